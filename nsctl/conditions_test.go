package nsctl

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

var (
	before = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now    = before.Add(time.Hour)
)

// allFalse is the state of an empty namespace without errors.
func allFalse(since time.Time) []api.NamespaceCondition {
	at := api.NewTime(since)
	return []api.NamespaceCondition{
		{Type: "NamespaceDeletionDiscoveryFailure", Status: "False", Reason: "ResourcesDiscovered",
			Message: "All resources successfully discovered", LastTransitionTime: at},
		{Type: "NamespaceDeletionGroupVersionParsingFailure", Status: "False", Reason: "ParsedGroupVersions",
			Message: "All legacy kube types successfully parsed", LastTransitionTime: at},
		{Type: "NamespaceDeletionContentFailure", Status: "False", Reason: "ContentDeleted",
			Message: "All content successfully deleted, may be waiting on finalization", LastTransitionTime: at},
		{Type: "NamespaceContentRemaining", Status: "False", Reason: "ContentRemoved",
			Message: "All content successfully removed", LastTransitionTime: at},
		{Type: "NamespaceFinalizersRemaining", Status: "False", Reason: "ContentHasNoFinalizers",
			Message: "All content-preserving finalizers finished", LastTransitionTime: at},
	}
}

func TestConditionsOfAnEmptyNamespace(t *testing.T) {
	conditions, changed := (&ConditionUpdater{}).apply(nil, now)
	assert.True(t, changed)
	assert.Equal(t, allFalse(now), conditions)
}

// A status that is too large could not be written: each message fits, whatever servers answer.
func TestMessagesOfConditionsAreBounded(t *testing.T) {
	long := strings.Repeat("é", maxMessage)
	found := &ConditionUpdater{discoveryErr: errors.New(long), parseErr: errors.New(long)}
	found.ProcessContent(api.GroupVersionResource{Group: long, Resource: "things"}, Remains{Items: 1}, errors.New(long))
	var left Remains
	objects := make([]*api.PartialObjectMetadata, maxFinalizers+1)
	for i := range objects {
		objects[i] = &api.PartialObjectMetadata{}
		objects[i].Finalizers = []string{fmt.Sprint(long[:2000], i)}
	}
	count(&left, objects)
	assert.Len(t, left.Finalizers, maxFinalizers)
	assert.Equal(t, len(objects), left.Items, "all objects are counted")
	found.ProcessContent(api.PodsResource, left, nil)
	conditions, _ := found.apply(nil, now)
	for _, condition := range conditions {
		require.Equal(t, api.ConditionTrue, condition.Status)
		assert.LessOrEqual(t, len(condition.Message), maxMessage, condition.Type)
		assert.True(t, utf8.ValidString(condition.Message), "%s: cut in the middle of a character", condition.Type)
	}
}

func TestCutText(t *testing.T) {
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 5, ""}, {"short", 5, "short"}, {"longer", 5, "lo…"},
		{"äöüä", 8, "äöüä"}, {"äöüäö", 8, "äö…"}, {"äöüäö", 9, "äöü…"},
		{"\x80\x80\x80\x80\x80", 4, "…"},
	} {
		assert.Equal(t, test.want, cutText(test.text, test.limit), "%q cut to %d bytes", test.text, test.limit)
	}
}

func TestConditionsThatSayNothingNewAreNotAChange(t *testing.T) {
	conditions, changed := (&ConditionUpdater{}).apply(allFalse(before), now)
	assert.False(t, changed)
	assert.Equal(t, allFalse(before), conditions)
}

func TestConditionsSayWhatWasFound(t *testing.T) {
	deployments := api.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	found := &ConditionUpdater{
		discoveryErr: &discovery.ErrGroupDiscoveryFailed{Groups: map[api.GroupVersion]error{
			{Group: "metrics.example", Version: "v1"}: errors.New("no answer"),
		}},
		parseErr: errors.New("unable to parse"),
	}
	found.ProcessContent(deployments, Remains{}, errors.New("second problem"))
	found.ProcessContent(deployments, Remains{Items: 1, Finalizers: map[string]int{"b.example/x": 1}}, nil)
	found.ProcessContent(api.PodsResource, Remains{Items: 2,
		Finalizers: map[string]int{"a.example/y": 2, "b.example/x": 1}},
		&ResourceError{Doing: "listing", Resource: api.PodsResource, Err: errors.New("first problem")})

	conditions, changed := found.apply(allFalse(before), now)
	require.True(t, changed)
	at := api.NewTime(now)
	assert.Equal(t, []api.NamespaceCondition{
		{Type: "NamespaceDeletionDiscoveryFailure", Status: "True", Reason: "DiscoveryFailed", LastTransitionTime: at,
			Message: "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server " +
				"APIs: metrics.example/v1: no answer"},
		{Type: "NamespaceDeletionGroupVersionParsingFailure", Status: "True", Reason: "GroupVersionParsingFailed",
			LastTransitionTime: at,
			Message:            "unable to parse"},
		{Type: "NamespaceDeletionContentFailure", Status: "True", Reason: "ContentDeletionFailed",
			LastTransitionTime: at,
			Message:            "Failed to delete all resource types, 2 remaining: first problem, second problem"},
		{Type: "NamespaceContentRemaining", Status: "True", Reason: "SomeResourcesRemain", LastTransitionTime: at,
			Message: "Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 " +
				"resource instances"},
		{Type: "NamespaceFinalizersRemaining", Status: "True", Reason: "SomeFinalizersRemain", LastTransitionTime: at,
			Message: "Some content in the namespace has finalizers remaining: a.example/y in 2 resource instances, " +
				"b.example/x in 2 resource instances"},
	}, conditions)
}

// A condition that is false does not claim more than was looked at. Upstream does (#138208).
func TestConditionsThatAreFalseDoNotClaimTooMuch(t *testing.T) {
	messages := func(u *ConditionUpdater) map[api.NamespaceConditionType]string {
		found := map[api.NamespaceConditionType]string{}
		conditions, _ := u.apply(nil, now)
		for _, c := range conditions {
			if c.Status == api.ConditionFalse {
				found[c.Type] = string(c.Reason) + ": " + c.Message
			}
		}
		return found
	}
	secrets := api.GroupVersionResource{Version: "v1", Resource: "secrets"}

	waiting := &ConditionUpdater{}
	waiting.ProcessContent(api.PodsResource, Remains{Items: 1}, nil)
	const afterPods = ", but pods remain, and everything else is looked at after them"
	got := messages(waiting)
	assert.Equal(t, "ContentDeleted: No deletion failed"+afterPods, got[api.NamespaceDeletionContentFailure])
	assert.Equal(t, "ContentHasNoFinalizers: No finalizers were found to remain"+afterPods,
		got[api.NamespaceFinalizersRemaining])

	undiscovered := &ConditionUpdater{discoveryErr: errors.New("no answer")}
	undiscovered.ProcessContent(secrets, Remains{}, nil)
	got = messages(undiscovered)
	assert.Equal(t, "ContentRemoved: No resources were found to remain, but not all resources could be discovered",
		got[api.NamespaceContentRemaining])
	assert.Equal(t, "ContentDeleted: All content successfully deleted, may be waiting on finalization",
		got[api.NamespaceDeletionContentFailure])

	failed := &ConditionUpdater{}
	failed.ProcessContent(secrets, Remains{}, errors.New("denied"))
	got = messages(failed)
	assert.Equal(t, "ContentRemoved: No resources were found to remain, but not all resources could be deleted",
		got[api.NamespaceContentRemaining])
	assert.Equal(t,
		"ContentHasNoFinalizers: No finalizers were found to remain, but not all resources could be deleted",
		got[api.NamespaceFinalizersRemaining])
}

func TestConditionsMoveTheirTransitionTimeWithTheStatusOnly(t *testing.T) {
	remaining := func(items int) *ConditionUpdater {
		f := &ConditionUpdater{}
		f.ProcessContent(api.PodsResource, Remains{Items: items}, nil)
		return f
	}
	first, changed := remaining(3).apply(allFalse(before), before.Add(time.Minute))
	require.True(t, changed)
	second, changed := remaining(2).apply(first, now)
	require.True(t, changed, "the message has changed")

	at := indexOf(second, api.NamespaceContentRemaining)
	assert.Equal(t, "Some resources are remaining: pods. has 2 resource instances", second[at].Message)
	assert.Equal(t, api.NewTime(before.Add(time.Minute)), second[at].LastTransitionTime)

	third, changed := (&ConditionUpdater{}).apply(second, now)
	require.True(t, changed)
	assert.Equal(t, api.ConditionFalse, third[at].Status)
	assert.Equal(t, api.NewTime(now), third[at].LastTransitionTime)
}

func TestConditionsOfOthersAreLeftAlone(t *testing.T) {
	others := api.NamespaceCondition{Type: "example.com/Reviewed", Status: api.ConditionUnknown, Message: "not yet"}
	start := append([]api.NamespaceCondition{others}, allFalse(before)[2:]...)
	given := append([]api.NamespaceCondition(nil), start...)

	conditions, changed := (&ConditionUpdater{}).apply(start, now)
	require.True(t, changed)
	assert.Equal(t, others, conditions[0])
	assert.Len(t, conditions, 6)
	assert.Equal(t, given, start, "the argument is not modified")
}

func indexOf(conditions []api.NamespaceCondition, wanted api.NamespaceConditionType) int {
	for i, condition := range conditions {
		if condition.Type == wanted {
			return i
		}
	}
	return -1
}

// The namespace may be the informer's.
func TestUpdatedConditionsAreACopy(t *testing.T) {
	namespace := &api.Namespace{}
	namespace.Status.Conditions = allFalse(before)
	found := &ConditionUpdater{}
	found.ProcessContent(api.PodsResource, Remains{Items: 1}, nil)
	_, changed := found.Update(namespace)
	require.True(t, changed)
	assert.Equal(t, allFalse(before), namespace.Status.Conditions,
		"Update has changed the conditions of the namespace that it was given")
}

func TestConditionsThatReportTrouble(t *testing.T) {
	for condition, want := range map[api.NamespaceCondition]bool{
		{Type: api.NamespaceContentRemaining, Status: api.ConditionTrue}:    true,
		{Type: api.NamespaceContentRemaining, Status: api.ConditionUnknown}: true,
		{Type: api.NamespaceContentRemaining, Status: api.ConditionFalse}:   false,
		{Type: "example.com/Reviewed", Status: api.ConditionTrue}:           false, // another party's
	} {
		got := ReportsTrouble([]api.NamespaceCondition{condition})
		assert.Equal(t, want, got, "%s is %s", condition.Type, condition.Status)
	}
}
