package e2e

import (
	"cmp"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/controller/gears"
)

// intendedDifferences lists every way in which the end states of scenarios may differ between the
// original and orrery. A listed difference that does not appear fails the test, as does any other.
var intendedDifferences = []difference{
	{
		name:     "an empty type costs one request",
		deleter:  gears.Fast,
		point:    "b",
		scenario: "TestRequestsForEmptyNamespace",
		reason: "A list proves a type empty, and events, which two groups serve, are listed once; " +
			"one request asks whether the server is ready, before its list of types is believed, " +
			"and one compares the UID before the config maps, which are deleted unseen. " +
			"A namespace that goes with the controller's token gets no report just before that. " +
			"The original lists each type after deleting it, pods before that too, and its finalize request meets the conflict that its own report of conditions causes.",
		facts: map[string]pair{
			"requests": {"70", "36"},
		},
	},
	{
		name:     "the UID is compared before each type, events are emptied once, and finalizing meets no conflict",
		deleter:  gears.Textbook,
		point:    "b",
		scenario: "TestRequestsForEmptyNamespace",
		reason: "The namespace is read again before each of 30 types is deleted. Events, which two groups serve, are emptied once, and the finalize request has the version that the report of conditions left; " +
			"one request asks whether the server is ready.",
		facts: map[string]pair{
			"requests": {"70", "97"},
		},
	},
	{
		name:     "pods that remain are reported",
		point:    "d",
		scenario: "TestPodsGoFirst",
		reason:   "The conditions say what the namespace waits for. The original claims that all content was removed (#138208).",
		facts: map[string]pair{
			"while a pod ends: NamespaceDeletionContentFailure": {
				"False ContentDeleted: All content successfully deleted, may be waiting on finalization",
				"False ContentDeleted: No deletion failed, but pods remain, and everything else is looked at after them",
			},
			"while a pod ends: NamespaceFinalizersRemaining": {
				"False ContentHasNoFinalizers: All content-preserving finalizers finished",
				"False ContentHasNoFinalizers: No finalizers were found to remain, but pods remain, and everything else is looked at after them",
			},
			"while a pod ends: NamespaceContentRemaining": {
				"False ContentRemoved: All content successfully removed",
				"True SomeResourcesRemain: Some resources are remaining: pods. has 1 resource instances",
			},
		},
	},
	{
		name:     "pods that are late are reported",
		point:    "d",
		scenario: "TestPodIsLate",
		reason:   "As above; the original reports the failure and also claims that all content was removed.",
		facts: map[string]pair{
			"while a pod is late: NamespaceFinalizersRemaining": {
				"False ContentHasNoFinalizers: All content-preserving finalizers finished",
				"False ContentHasNoFinalizers: No finalizers were found to remain, but pods remain, and everything else is looked at after them",
			},
			"while a pod is late: NamespaceContentRemaining": {
				"False ContentRemoved: All content successfully removed",
				"True SomeResourcesRemain: Some resources are remaining: pods. has 1 resource instances",
			},
		},
	},
	{
		name:     "finalizers of pods are reported",
		point:    "d",
		scenario: "TestPodWithFinalizer",
		reason:   "As above; the original claims that no finalizers remain.",
		facts: map[string]pair{
			"while a pod is held: NamespaceDeletionContentFailure": {
				"False ContentDeleted: All content successfully deleted, may be waiting on finalization",
				"False ContentDeleted: No deletion failed, but pods remain, and everything else is looked at after them",
			},
			"while a pod is held: NamespaceContentRemaining": {
				"False ContentRemoved: All content successfully removed",
				"True SomeResourcesRemain: Some resources are remaining: pods. has 1 resource instances",
			},
			"while a pod is held: NamespaceFinalizersRemaining": {
				"False ContentHasNoFinalizers: All content-preserving finalizers finished",
				"True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
			},
		},
	},
	{
		name:     "pods that may not be deleted keep what they rely on",
		point:    "e",
		scenario: "TestPodDeletionIsDenied",
		reason:   "A pod that could not be deleted still runs. The original goes on and deletes the network policies that isolate it.",
		facts: map[string]pair{
			"while it is denied: configmaps":                        {"", "configuration, kube-root-ca.crt"},
			"while it is denied: networkpolicies.networking.k8s.io": {"", "isolation"},
			"while it is denied: serviceaccounts":                   {"", "default"},
			"pods/protected left before networkpolicies/isolation":  {"no", "yes"},
		},
	},
	{
		name:     "pods that cannot be listed keep what they rely on",
		point:    "e",
		scenario: "TestMissingRightsForPods",
		reason:   "As above: the pods may run.",
		facts: map[string]pair{
			"while rights are missing: configmaps":                        {"", "configuration, kube-root-ca.crt"},
			"while rights are missing: networkpolicies.networking.k8s.io": {"", "isolation"},
			"while rights are missing: serviceaccounts":                   {"", "default"},
			"pods/running left before networkpolicies/isolation":          {"no", "yes"},
		},
	},
	{
		name:     "types are listed before they are deleted",
		deleter:  gears.Fast,
		point:    "b",
		scenario: "TestMissingRights",
		reason:   "An empty list proves a type empty with one request, so another verb is refused first.",
		facts: map[string]pair{
			"while rights are missing: NamespaceDeletionContentFailure": {
				"True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: " +
					`secrets is forbidden: User "` + ControllerIdentity + `" cannot deletecollection resource "secrets" in API group "" in the namespace "unseen"`,
				"True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: " +
					`secrets is forbidden: User "` + ControllerIdentity + `" cannot list resource "secrets" in API group "" in the namespace "unseen"`,
			},
		},
	},
	{
		name:     "undiscovered content is not called removed",
		point:    "d",
		scenario: "TestUnavailableAPIService",
		reason:   "A condition that is false because not everything was looked at says so; the original claims that all content was removed (#138208).",
		facts: map[string]pair{
			"while groups cannot be discovered: NamespaceContentRemaining": {
				"False ContentRemoved: All content successfully removed",
				"False ContentRemoved: No resources were found to remain, but not all resources could be discovered",
			},
			"while groups cannot be discovered: NamespaceFinalizersRemaining": {
				"False ContentHasNoFinalizers: All content-preserving finalizers finished",
				"False ContentHasNoFinalizers: No finalizers were found to remain, but not all resources could be discovered",
			},
		},
	},
	{
		name:     "denied content is not called removed",
		point:    "d",
		scenario: "TestPolicyDeniesDeletion",
		reason:   "As above.",
		facts: map[string]pair{
			"while it is denied: NamespaceContentRemaining": {
				"False ContentRemoved: All content successfully removed",
				"False ContentRemoved: No resources were found to remain, but not all resources could be deleted",
			},
			"while it is denied: NamespaceFinalizersRemaining": {
				"False ContentHasNoFinalizers: All content-preserving finalizers finished",
				"False ContentHasNoFinalizers: No finalizers were found to remain, but not all resources could be deleted",
			},
		},
	},
	{
		name:     "content that a webhook keeps is not called removed",
		point:    "d",
		scenario: "TestWebhookIsDown",
		reason:   "As above.",
		facts: map[string]pair{
			"while the webhook is down: NamespaceContentRemaining": {
				"False ContentRemoved: All content successfully removed",
				"False ContentRemoved: No resources were found to remain, but not all resources could be deleted",
			},
			"while the webhook is down: NamespaceFinalizersRemaining": {
				"False ContentHasNoFinalizers: All content-preserving finalizers finished",
				"False ContentHasNoFinalizers: No finalizers were found to remain, but not all resources could be deleted",
			},
		},
	},
	{
		name:     "content without rights is not called removed",
		point:    "d",
		scenario: "TestMissingRights",
		reason:   "As above.",
		facts: map[string]pair{
			"while rights are missing: NamespaceContentRemaining": {
				"False ContentRemoved: All content successfully removed",
				"False ContentRemoved: No resources were found to remain, but not all resources could be deleted",
			},
			"while rights are missing: NamespaceFinalizersRemaining": {
				"False ContentHasNoFinalizers: All content-preserving finalizers finished",
				"False ContentHasNoFinalizers: No finalizers were found to remain, but not all resources could be deleted",
			},
		},
	},
	{
		name:     "pods without rights are not called removed",
		point:    "d",
		scenario: "TestMissingRightsForPods",
		reason:   "As above.",
		facts: map[string]pair{
			"while rights are missing: NamespaceContentRemaining": {
				"False ContentRemoved: All content successfully removed",
				"False ContentRemoved: No resources were found to remain, but not all resources could be deleted",
			},
			"while rights are missing: NamespaceFinalizersRemaining": {
				"False ContentHasNoFinalizers: All content-preserving finalizers finished",
				"False ContentHasNoFinalizers: No finalizers were found to remain, but not all resources could be deleted",
			},
		},
	},
	{
		name:     "denied pods are not called removed",
		point:    "d",
		scenario: "TestPodDeletionIsDenied",
		reason:   "As above.",
		facts: map[string]pair{
			"while it is denied: NamespaceContentRemaining": {
				"False ContentRemoved: All content successfully removed",
				"False ContentRemoved: No resources were found to remain, but not all resources could be deleted",
			},
			"while it is denied: NamespaceFinalizersRemaining": {
				"False ContentHasNoFinalizers: All content-preserving finalizers finished",
				"False ContentHasNoFinalizers: No finalizers were found to remain, but not all resources could be deleted",
			},
		},
	},
}

// platformDifferences does the same for the genuine server (the first value of each pair) and the
// server in memory, with each subject unless one is named.
var platformDifferences = []difference{
	{
		name:     "a webhook denies, not a policy",
		scenario: "TestPolicyDeniesDeletion",
		reason:   "On the server in memory a fault stands for the policy: a webhook that denies, with the genuine server's message.",
		facts: map[string]pair{
			"while it is denied: NamespaceDeletionContentFailure": {
				"True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: " +
					`configmaps "Unknown" is forbidden: ValidatingAdmissionPolicy 'denied' with binding 'denied' denied request: precious stays`,
				"True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: " +
					`admission webhook "deny.example.com" denied the request: precious stays`,
			},
		},
	},
	{
		name:     "a webhook denies, not a policy: pods",
		scenario: "TestPodDeletionIsDenied",
		reason:   "As above.",
		facts: map[string]pair{
			"while it is denied: NamespaceDeletionContentFailure": {
				"True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: " +
					`pods "Unknown" is forbidden: ValidatingAdmissionPolicy 'pods-denied' with binding 'pods-denied' denied request: protected stays`,
				"True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: " +
					`admission webhook "deny.example.com" denied the request: protected stays`,
			},
		},
	},
}

// intendedOnPlatforms returns the differences between platforms listed for a scenario and a
// subject.
func intendedOnPlatforms(scenario string, subject Subject) []difference {
	var intended []difference
	for _, d := range platformDifferences {
		if d.scenario == scenario && (d.subject == "" || d.subject == subject.Name) {
			intended = append(intended, d)
		}
	}
	return intended
}

// intendedFor returns the differences between subjects listed for a scenario.
func intendedFor(scenario string) []difference {
	var intended []difference
	for _, d := range intendedDifferences {
		if d.scenario == scenario && (d.deleter == "" || d.deleter == deleterForm()) {
			intended = append(intended, d)
		}
	}
	return intended
}

// deleterForm returns which form of orrery's deleter runs.
func deleterForm() string {
	set, err := gears.Parse(cmp.Or(os.Getenv("E2E_GEARS"), gears.Fast))
	if err != nil {
		panic(err)
	}
	return set.Form("nsctl")
}

// Every difference has its reason, and one between platforms a scenario that runs on all of them.
func TestIntendedDifferencesHaveReasons(t *testing.T) {
	for _, d := range intendedDifferences {
		assert.Regexp(t, `^[a-h]$`, d.point, d.name)
	}
	for _, d := range slices.Concat(intendedDifferences, platformDifferences) {
		assert.NotEmpty(t, d.facts, d.name)
		assert.NotEmpty(t, d.reason, d.name)
	}
	for _, d := range platformDifferences {
		assert.Len(t, allPlatformsFor(d.scenario), len(Platforms()), "difference %q is between platforms, and the scenario runs on one", d.name)
	}
}
