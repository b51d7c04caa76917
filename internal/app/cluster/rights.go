package cluster

import "orrery/controller/rbac"

// ControllerRights returns the rights to delete the content of namespaces, or to read it in a dry
// run: namespaces, and list, delete and deletecollection of everything, which emptying a namespace
// needs. Package rbac adds those to its own Lease and to Events. Tests in upstream/e2e prove on a
// real API server that the rights suffice and that no verb is superfluous.
func ControllerRights(dryRun bool) []rbac.Right {
	rights := []rbac.Right{{
		Rule:   rbac.Rule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get", "watch"}},
		Reason: "Watch namespaces, and read them again before anything is deleted. Listing them is included below.",
	}}
	if dryRun {
		return append(rights, rbac.Right{
			Rule:   rbac.Rule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"list"}},
			Reason: "List everything in a namespace, of any type.",
		})
	}
	return append(rights, rbac.Right{
		Rule:   rbac.Rule{APIGroups: []string{""}, Resources: []string{"namespaces/status"}, Verbs: []string{"update"}},
		Reason: "Write the conditions of a deletion.",
	}, rbac.Right{
		Rule: rbac.Rule{APIGroups: []string{""}, Resources: []string{"namespaces/finalize"},
			Verbs: []string{"update"}},
		Reason: "Remove the finalizer of an empty namespace.",
	}, rbac.Right{
		Rule: rbac.Rule{APIGroups: []string{"*"}, Resources: []string{"*"},
			Verbs: []string{"list", "delete", "deletecollection"}},
		Reason: "Delete everything in a namespace, of any type, custom ones included. Types without " +
			"deletecollection are deleted one by one.",
	})
}

// WhyRights returns the rights of "orrery why". Single objects are listed by their name, so that
// list is enough.
func WhyRights() []rbac.Right {
	return append([]rbac.Right{{
		Rule: rbac.Rule{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"list"}},
		Reason: "List what a namespace holds, of any type, and what may stop its deletion. This includes the " +
			"content of Secrets: Kubernetes cannot grant their heads alone.",
	}}, whyRightsBesideLists()...)
}

// WhyRightsWithoutSecrets returns the rights of "orrery why" to every built-in type but Secrets,
// and to the custom types of some groups. Kubernetes has no rule that excepts a type, so the others
// must be named. "orrery why" reports what it may not read.
func WhyRightsWithoutSecrets(groups []string) []rbac.Right {
	rights := []rbac.Right{{
		Rule:   rbac.Rule{APIGroups: []string{""}, Resources: coreTypes, Verbs: []string{"list"}},
		Reason: "List what a namespace holds, without Secrets, and the nodes of its pods.",
	}, {
		Rule:   rbac.Rule{APIGroups: builtInGroups, Resources: []string{"*"}, Verbs: []string{"list"}},
		Reason: "List what a namespace holds of the other built-in types, and what may stop its deletion.",
	}}
	if len(groups) > 0 {
		rights = append(rights, rbac.Right{
			Rule:   rbac.Rule{APIGroups: groups, Resources: []string{"*"}, Verbs: []string{"list"}},
			Reason: "List what a namespace holds of these custom types.",
		})
	}
	return append(rights, whyRightsBesideLists()...)
}

// coreTypes are the types of the core group that are listed, except secrets.
var coreTypes = []string{
	"configmaps", "endpoints", "events", "limitranges", "namespaces", "nodes", "persistentvolumeclaims",
	"persistentvolumes", "pods", "podtemplates", "replicationcontrollers", "resourcequotas", "serviceaccounts",
	"services",
}

// builtInGroups are the other groups of Kubernetes.
var builtInGroups = []string{
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "autoscaling", "batch",
	"coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "networking.k8s.io", "policy",
	"rbac.authorization.k8s.io", "resource.k8s.io", "storage.k8s.io",
}

func whyRightsBesideLists() []rbac.Right {
	return []rbac.Right{{
		Rule:   rbac.Rule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get"}},
		Reason: "Read the namespace, and read it again for the second sample.",
	}, {
		Rule: rbac.Rule{APIGroups: []string{"authorization.k8s.io"},
			Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
		Reason: "Ask whether the controller that a condition names still lacks a right. Nothing is stored.",
	}}
}
