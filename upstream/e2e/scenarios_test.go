package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"orrery/controller/gears"
	"orrery/examples/secondparty"
	"orrery/upstream/controlplane"
)

var (
	configMaps      = corev1.SchemeGroupVersion.WithResource("configmaps")
	pods            = corev1.SchemeGroupVersion.WithResource("pods")
	networkPolicies = networkingv1.SchemeGroupVersion.WithResource("networkpolicies")
)

// scenario is a namespace that is deleted while something holds it up, until somebody finishes. Its
// facts with orrery must be those of the original but for the listed differences.
type scenario struct {
	name    string               // also of the namespace
	on      venue                // default: onSharedCluster
	content []string             // see create
	token   corev1.FinalizerName // further one in spec.finalizers

	// hinder creates an obstacle before the deletion, which lift removes; nil for none.
	hinder func(tr *trial, ns string) (lift func())
	// when names the moment at which the namespace is looked at: when await returns or, by default,
	// when the condition until is true or, without one, at the first report. Empty: never.
	when  string
	until corev1.NamespaceConditionType
	await func(tr *trial, ns string)
	// finish follows lift; nil if nothing else holds the namespace up.
	finish func(tr *trial, ns string)
	// order lists pairs of objects whose order of departure is a fact.
	order []string
	// play replaces all of that but the name and the venue.
	play func(tr *trial)
	// anyServer says that "lab serve" has what the scenario needs; see TestOriginalOnLabServe.
	anyServer bool

	// unclear is why orrery reports that no content was found to remain, where the original claims
	// that all content was removed (#138208).
	unclear string
	// reports are the other facts about that moment that orrery reports differently, ours its other
	// facts that differ, ofForm those of one form of the deleter (see E2E_GEARS).
	reports, ours map[string]string
	ofForm        map[string]map[string]string
}

const (
	podsRemain  = "pods remain, and everything else is looked at after them"
	notDeleted  = "not all resources could be deleted"
	remainingIs = "True SomeResourcesRemain: Some resources are remaining: "
)

// podContent is what must outlive the pods of a namespace.
var podContent = []string{"networkpolicy isolation", "configmap configuration"}

// whatPodsRelyOn are the facts of a report while pods keep what they rely on.
func whatPodsRelyOn() map[string]string {
	return map[string]string{
		"configmaps":                        "configuration, kube-root-ca.crt",
		"networkpolicies.networking.k8s.io": "isolation",
		"serviceaccounts":                   "default",
	}
}

var scenarios = []scenario{
	// An object with a finalizer stays until its owner removes the finalizer; everything else goes at
	// once. The conditions name the finalizer.
	{name: "finalizer", anyServer: true,
		content: []string{"configmap free", "secret free", "configmap held-1 " + holdingFinalizer,
			"configmap held-2 " + holdingFinalizer, "widget held-3 " + holdingFinalizer + " example.com/another"},
		when: "while finalizers remain", until: corev1.NamespaceFinalizersRemaining,
		finish: func(tr *trial, ns string) {
			tr.free(configMaps, ns, "held-1")
			tr.free(configMaps, ns, "held-2")
			tr.awaitMessage(ns, corev1.NamespaceContentRemaining,
				"Some resources are remaining: widgets.finalizer.example.com has 1 resource instances")
			tr.noteNamespace("when some have been taken off", ns)
			tr.free(widgetsOf(ns), ns, "held-3")
		}},
	// A finalizer in the namespace's metadata: the namespace is emptied and finalized, and the object
	// stays until the finalizer is removed.
	{name: "metadata", anyServer: true, content: []string{"configmap content"},
		hinder: func(tr *trial, ns string) (lift func()) {
			tr.patchNamespace(ns, `{"metadata":{"finalizers":["`+holdingFinalizer+`"]}}`)
			return func() { tr.patchNamespace(ns, `{"metadata":{"finalizers":null}}`) }
		},
		when: "when the controller is done", await: tokens()},
	// A policy denies the deletion of one object. The conditions quote it and the other types go.
	{name: "denied", content: []string{"configmap ordinary", "configmap precious", "secret secret"},
		hinder: func(tr *trial, ns string) (lift func()) { return tr.forbidDeletion(configMaps, ns, "precious") },
		when:   "while it is denied", until: corev1.NamespaceDeletionContentFailure,
		unclear: notDeleted},
	// A required admission webhook does not answer: no object of the type can be deleted.
	{name: "webhook", content: []string{"configmap content", "secret content"},
		hinder: func(tr *trial, ns string) (lift func()) { return tr.unreachableWebhook(configMaps, ns) },
		when:   "while the webhook is down", until: corev1.NamespaceDeletionContentFailure,
		unclear: notDeleted},
	// A custom type is removed while a namespace with objects of it is being deleted.
	{name: "removed", anyServer: true, content: []string{"configmap content", "widget held " + holdingFinalizer},
		when: "while an object is held", until: corev1.NamespaceFinalizersRemaining,
		finish: func(tr *trial, ns string) {
			definitions := tr.dynamic.Resource(crdResource)
			require.NoError(tr.t, definitions.Delete(tr.ctx, "widgets.removed.example.com", metav1.DeleteOptions{}))
			tr.free(widgetsOf(ns), ns, "held")
		}},
	// Two APIServices have no backend, so the content of their groups is unknown and the namespace
	// must not be finalized. The content of the other groups goes.
	{name: "partial", on: onOwnCluster(controlplane.Config{}), content: []string{"configmap content", "secret content"},
		hinder: func(tr *trial, _ string) (lift func()) {
			groups := []string{"nowhere.example.com", "elsewhere.example.com"}
			for _, group := range groups {
				tr.createNowhereAPIService(group)
			}
			return func() {
				for _, group := range groups {
					err := tr.dynamic.Resource(apiServices).Delete(tr.ctx, "v1."+group, metav1.DeleteOptions{})
					require.NoError(tr.t, err)
				}
			}
		},
		when: "while groups cannot be discovered", until: corev1.NamespaceDeletionDiscoveryFailure,
		unclear: "not all resources could be discovered"},
	// The controller has no rights on one type. The conditions say so and the other types go. The
	// fast deleter lists first, so another verb is refused.
	{name: "unseen", on: onOwnCluster(controlplane.Config{}), content: []string{"configmap content", "secret content"},
		hinder: func(tr *trial, _ string) (lift func()) { return tr.withholdRights(corev1.Resource("secrets")) },
		when:   "while rights are missing", until: corev1.NamespaceDeletionContentFailure,
		unclear: notDeleted,
		ofForm: map[string]map[string]string{gears.Fast: {
			"while rights are missing: NamespaceDeletionContentFailure": "True ContentDeletionFailed: " +
				`Failed to delete all resource types, 1 remaining: secrets is forbidden: User "` + ControllerIdentity +
				`" cannot list resource "secrets" in API group "" in the namespace "unseen"`,
		}}},

	// While a pod terminates, everything that it may rely on stays. The original measures a pod's
	// grace period by the age of the namespace's deletion. It must not expire before the first pass
	// on any machine. The original comes back after half of that time, so the test wakes it.
	{name: "pods-first", anyServer: true, content: append([]string{"held-pod slow 3600"}, podContent...),
		when: "while a pod ends",
		finish: func(tr *trial, ns string) {
			tr.endPod(ns, "slow")
			tr.wake(ns)
		},
		order:   []string{"pods/slow networkpolicies/isolation", "pods/slow configmaps/configuration"},
		unclear: podsRemain,
		reports: map[string]string{
			"NamespaceDeletionContentFailure": "False ContentDeleted: No deletion failed, but " + podsRemain,
			"NamespaceContentRemaining":       remainingIs + "pods. has 1 resource instances",
		}},
	// Pods with different termination times, stopped by their node.
	{name: "pods-end", content: append([]string{"pod quick 0s", "pod slower 7s"}, podContent...),
		order: []string{"pods/quick networkpolicies/isolation", "pods/quick configmaps/configuration",
			"pods/slower networkpolicies/isolation", "pods/slower configmaps/configuration"}},
	// A pod outlives its grace period for no visible reason.
	{name: "pods-late", anyServer: true, content: append([]string{"held-pod late 1"}, podContent...),
		when:    "while a pod is late",
		finish:  func(tr *trial, ns string) { tr.endPod(ns, "late") },
		order:   []string{"pods/late networkpolicies/isolation"},
		unclear: podsRemain,
		reports: map[string]string{"NamespaceContentRemaining": remainingIs + "pods. has 1 resource instances"}},
	// A finalizer keeps a pod whose containers have ended.
	{name: "pods-held", anyServer: true,
		content: append([]string{"held-pod held 1 " + holdingFinalizer}, podContent...),
		when:    "while a pod is held",
		finish: func(tr *trial, ns string) {
			tr.endPod(ns, "held")
			tr.free(pods, ns, "held")
		},
		order: []string{"pods/held networkpolicies/isolation"},
		reports: map[string]string{
			"NamespaceDeletionContentFailure": "False ContentDeleted: No deletion failed, but " + podsRemain,
			"NamespaceContentRemaining":       remainingIs + "pods. has 1 resource instances",
			"NamespaceFinalizersRemaining": "True SomeFinalizersRemain: Some content in the namespace has " +
				"finalizers remaining: example.com/hold in 1 resource instances",
		}},
	// Pods cannot be deleted and still run. The original goes on and deletes the network policies
	// that isolate them.
	{name: "pods-denied", content: append([]string{"pod protected 0s"}, podContent...),
		hinder: func(tr *trial, ns string) (lift func()) { return tr.forbidDeletion(pods, ns, "protected") },
		when:   "while it is denied", until: corev1.NamespaceDeletionContentFailure,
		order:   []string{"pods/protected networkpolicies/isolation"},
		unclear: notDeleted, reports: whatPodsRelyOn(),
		ours: map[string]string{"pods/protected left before networkpolicies/isolation": "yes"}},
	// The controller has no rights on pods, which may run.
	{name: "unseen-pods", on: onOwnCluster(controlplane.Config{FakeNodes: 1}),
		content: append([]string{"pod running 0s"}, podContent...),
		hinder:  func(tr *trial, _ string) (lift func()) { return tr.withholdRights(corev1.Resource("pods")) },
		when:    "while rights are missing", until: corev1.NamespaceDeletionContentFailure,
		order:   []string{"pods/running networkpolicies/isolation"},
		unclear: notDeleted, reports: whatPodsRelyOn(),
		ours: map[string]string{"pods/running left before networkpolicies/isolation": "yes"}},

	// The namespace design's example: two parties have a token, and Kubernetes finishes first.
	{name: "second-last", anyServer: true, content: []string{"configmap content"}, token: secondparty.Token,
		when: "when the first is done", await: tokens(secondparty.Token),
		finish: func(tr *trial, ns string) { tr.dropToken(ns, secondparty.Token) }},
	// The other order: an object of the first party has a finalizer. The second party leaves the
	// first one's report alone.
	{name: "second-first", anyServer: true,
		content: []string{"configmap held " + holdingFinalizer}, token: secondparty.Token,
		when: "when the second is done",
		await: func(tr *trial, ns string) {
			tr.awaitCondition(ns, corev1.NamespaceFinalizersRemaining)
			tr.dropToken(ns, secondparty.Token)
			tokens(corev1.FinalizerKubernetes)(tr, ns)
		},
		finish: func(tr *trial, ns string) { tr.free(configMaps, ns, "held") }},

	{name: "emptied", anyServer: true, play: (*trial).emptyByHand},
	{name: "again", anyServer: true, play: (*trial).recreate},
	// A thousand objects of two built-in types, and one of a type defined after the controller's start.
	{name: "full", anyServer: true, content: append(many(500), "widget widget")},
	{name: "hundred", anyServer: true, play: (*trial).deleteHundred},
	{name: "interrupted", on: onOwnCluster(controlplane.Config{}), play: (*trial).killController},
	{name: "restarted", on: onOwnCluster(controlplane.Config{}), play: (*trial).restartAPIServer},
	{name: "forgotten", on: onOwnCluster(controlplane.Config{}), play: (*trial).forgetHistory},
	// A server that answers every request from etcd and refuses streaming lists.
	{name: "forgotten-without-watch-cache", on: onOwnCluster(controlplane.Config{DisableWatchCache: true}),
		play: (*trial).forgetHistory},
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t)
		})
	}
}

// run plays a scenario with each subject and compares the outcomes with the record.
func (s scenario) run(t *testing.T) {
	on := s.on
	if on == nil {
		on = onSharedCluster
	}
	outcomes := map[string]endState{}
	for _, subject := range subjectsNow() {
		state := endState{}
		outcomes[subject.Name] = state
		t.Run(subject.Name, func(t *testing.T) {
			t.Parallel()
			tr := newTrial(t, on(t, subject), state)
			s.perform(tr)
		})
	}
	t.Cleanup(func() { // after the parallel subtests have ended
		if !t.Failed() {
			s.compare(t, outcomes)
		}
	})
}

// perform plays the columns of a scenario's row.
func (s scenario) perform(tr *trial) {
	if s.play != nil {
		s.play(tr)
		return
	}
	ns := s.name
	if s.token == "" {
		tr.createNamespace(ns)
	} else {
		tr.createNamespace(ns, s.token)
	}
	for _, object := range s.content {
		tr.create(ns, object)
	}
	lift := func() {}
	if s.hinder != nil {
		lift = s.hinder(tr, ns)
	}
	left := tr.watchDepartures(ns, pods, networkPolicies, configMaps)
	tr.deleteNamespace(ns)
	switch {
	case s.await != nil:
		s.await(tr, ns)
	case s.until != "":
		tr.awaitCondition(ns, s.until)
	case s.when != "":
		tr.awaitConditions(ns)
	}
	if s.when != "" {
		tr.noteNamespace(s.when, ns)
	}
	lift()
	if s.finish != nil {
		s.finish(tr, ns)
	}
	tr.awaitGone(ns)
	for _, pair := range s.order {
		first, second, _ := strings.Cut(pair, " ")
		tr.noteOrder(left, first, second)
	}
}

// create creates an object: "kind name finalizer ...", "pod name DELAY" or "held-pod name GRACE
// finalizer ...". A widget gets a custom type of the namespace's own.
func (tr *trial) create(ns, object string) {
	tr.t.Helper()
	words := strings.Fields(object)
	name, rest := words[1], words[2:]
	switch words[0] {
	case "configmap":
		tr.createConfigMap(ns, name, rest...)
	case "secret":
		tr.createSecret(ns, name)
	case "networkpolicy":
		tr.createNetworkPolicy(ns, name)
	case "widget":
		tr.createCustom(tr.createCustomType(widgetsOf(ns).Group, "widgets", "Widget"), "Widget", ns, name, rest...)
	case "pod":
		tr.runPod(ns, name, rest[0], 30)
	case "held-pod":
		var grace int64
		_, err := fmt.Sscan(rest[0], &grace)
		require.NoError(tr.t, err)
		tr.holdPod(ns, name, grace, rest[1:]...)
	}
}

// widgetsOf returns a namespace's own type.
func widgetsOf(ns string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: ns + ".example.com", Version: "v1", Resource: "widgets"}
}

// tokens returns a function that waits until exactly these tokens hold a namespace.
func tokens(want ...corev1.FinalizerName) func(tr *trial, ns string) {
	return func(tr *trial, ns string) {
		tr.t.Helper()
		tr.eventually(fmt.Sprintf("%v hold namespace %s", want, ns), func() (bool, error) {
			namespace, err := tr.client.CoreV1().Namespaces().Get(tr.ctx, ns, metav1.GetOptions{})
			return err == nil && slices.Equal(namespace.Spec.Finalizers, want), err
		})
	}
}

// dropToken removes a token from spec.finalizers, as its party does when it is done.
func (tr *trial) dropToken(ns string, token corev1.FinalizerName) {
	tr.t.Helper()
	tr.eventually(fmt.Sprintf("%s is removed from %s", token, ns), func() (bool, error) {
		namespace := tr.namespace(ns)
		namespace.Spec.Finalizers = slices.DeleteFunc(namespace.Spec.Finalizers,
			func(t corev1.FinalizerName) bool { return t == token })
		_, err := tr.client.CoreV1().Namespaces().Finalize(tr.ctx, namespace, metav1.UpdateOptions{})
		return err == nil, err // a conflict with the subject's report
	})
}

func (tr *trial) patchNamespace(name, patch string) {
	tr.t.Helper()
	require.NoError(tr.t, tr.tryPatchNamespace(name, patch))
}

func (tr *trial) tryPatchNamespace(name, patch string) error {
	namespaces := tr.client.CoreV1().Namespaces()
	_, err := namespaces.Patch(tr.ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// endState is the outcome of a scenario with one subject: named facts, the same for each subject.
// They should cover everything by which a user of the API could tell the subjects apart.
type endState map[string]string

// note adds a fact, which must be new.
func (s endState) note(fact, value string) {
	if old, ok := s[fact]; ok {
		panic(fmt.Sprintf("fact %q is %q already and cannot become %q", fact, old, value))
	}
	s[fact] = value
}

// compare compares the outcomes with the record. A subject that -run did not select has none.
func (s scenario) compare(t *testing.T, outcomes map[string]endState) {
	original := recorded(t, s.name)
	if found := outcomes[BuiltIn().Name]; len(found) > 0 {
		if recording {
			record(t, s.name, found)
			original = found
		}
		assert.Equal(t, original, found, "the record is out of date: update it by E2E_MATRIX=whole E2E_RECORD=1")
	}
	if found := outcomes[Orrery().Name]; len(found) > 0 {
		t.Logf("the facts: %s", facts(t, found))
		assert.Equal(t, s.expected(original), found)
	}
}

// expected returns the original's facts with the intended differences.
func (s scenario) expected(original endState) endState {
	want := maps.Clone(original)
	if s.unclear != "" {
		want[s.when+": NamespaceContentRemaining"] =
			"False ContentRemoved: No resources were found to remain, but " + s.unclear
		want[s.when+": NamespaceFinalizersRemaining"] =
			"False ContentHasNoFinalizers: No finalizers were found to remain, but " + s.unclear
	}
	for fact, value := range s.reports {
		want[s.when+": "+fact] = value
	}
	maps.Copy(want, s.ours)
	maps.Copy(want, s.ofForm[deleterForm()])
	return want
}

// deleterForm returns which form of orrery's deleter runs.
func deleterForm() string {
	set, err := gears.Parse(cmp.Or(os.Getenv("E2E_GEARS"), gears.Fast))
	if err != nil {
		panic(err)
	}
	return set.Form("nsctl")
}

// recording makes the tests record the original's outcomes.
var recording = os.Getenv("E2E_RECORD") != ""

// recordFile has the outcomes of the original by scenario.
var recordFile = filepath.Join("testdata", "original.json")

var recordMu sync.Mutex // held while the file is read or written

// recordedLocked returns the recorded outcomes of the original. The caller must hold recordMu.
func recordedLocked(t *testing.T) (all map[string]endState) {
	text, err := os.ReadFile(recordFile)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &all))
	return all
}

// recorded returns the recorded outcome of the original in a scenario.
func recorded(t *testing.T, scenario string) endState {
	recordMu.Lock()
	defer recordMu.Unlock()
	return recordedLocked(t)[scenario]
}

// record stores it.
func record(t *testing.T, scenario string, state endState) {
	recordMu.Lock()
	defer recordMu.Unlock()
	all := recordedLocked(t)
	all[scenario] = state
	require.NoError(t, os.WriteFile(recordFile, []byte(facts(t, all)+"\n"), 0o644))
}

// facts returns outcomes as JSON.
func facts(t *testing.T, of any) string {
	text, err := json.MarshalIndent(of, "", "  ")
	require.NoError(t, err)
	return string(text)
}
