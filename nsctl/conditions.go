package nsctl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orrery/restclient/api"
)

// conditionTexts are what one condition says in each of its two states. They are the original's, letter by
// letter: dashboards and scripts match on them.
type conditionTexts struct {
	conditionType api.NamespaceConditionType
	reasonTrue    string
	reasonFalse   string
	messageFalse  string
}

// conditionTable is in the order in which the conditions stand in the status.
var conditionTable = []conditionTexts{
	{api.NamespaceDeletionDiscoveryFailure, "DiscoveryFailed", "ResourcesDiscovered", "All resources successfully discovered"},
	{api.NamespaceDeletionGVParsingFailure, "GroupVersionParsingFailed", "ParsedGroupVersions", "All legacy kube types successfully parsed"},
	{api.NamespaceDeletionContentFailure, "ContentDeletionFailed", "ContentDeleted", "All content successfully deleted, may be waiting on finalization"},
	{api.NamespaceContentRemaining, "SomeResourcesRemain", "ContentRemoved", "All content successfully removed"},
	{api.NamespaceFinalizersRemaining, "SomeFinalizersRemain", "ContentHasNoFinalizers", "All content-preserving finalizers finished"},
}

// findings is what one pass over a namespace has learnt, and the source of its conditions.
// The zero value is a pass that found nothing wrong and nothing left.
type findings struct {
	discoveryErr error
	parseErr     error
	contentErrs  []error
	// remaining counts what is left, by resource ("pods.", "deployments.apps").
	remaining map[string]int
	// finalizers counts the items that hold each finalizer.
	finalizers map[string]int
}

// add records what one resource type had left.
func (f *findings) add(gvr api.GroupVersionResource, left remains, err error) {
	if err != nil {
		f.contentErrs = append(f.contentErrs, err)
	}
	if left.items > 0 {
		if f.remaining == nil {
			f.remaining = map[string]int{}
		}
		f.remaining[gvr.GroupResource()] += left.items
	}
	for finalizer, count := range left.finalizers {
		if f.finalizers == nil {
			f.finalizers = map[string]int{}
		}
		f.finalizers[finalizer] += count
	}
}

// trueMessages maps each condition that holds to its message.
func (f *findings) trueMessages() map[api.NamespaceConditionType]string {
	messages := map[api.NamespaceConditionType]string{}
	if f.discoveryErr != nil {
		messages[api.NamespaceDeletionDiscoveryFailure] = discoveryMessage(f.discoveryErr)
	}
	if f.parseErr != nil {
		messages[api.NamespaceDeletionGVParsingFailure] = f.parseErr.Error()
	}
	if len(f.contentErrs) > 0 {
		texts := make([]string, len(f.contentErrs))
		for i, err := range f.contentErrs {
			texts[i] = conditionText(err)
		}
		slices.Sort(texts)
		messages[api.NamespaceDeletionContentFailure] = fmt.Sprintf(
			"Failed to delete all resource types, %d remaining: %s", len(texts), strings.Join(texts, ", "))
	}
	if len(f.remaining) > 0 {
		messages[api.NamespaceContentRemaining] = "Some resources are remaining: " +
			countList(f.remaining, "%s has %d resource instances")
	}
	if len(f.finalizers) > 0 {
		messages[api.NamespaceFinalizersRemaining] = "Some content in the namespace has finalizers remaining: " +
			countList(f.finalizers, "%s in %d resource instances")
	}
	return messages
}

// reportsTrouble tells whether any of the conditions that this controller writes holds.
func reportsTrouble(conditions []api.NamespaceCondition) bool {
	return slices.ContainsFunc(conditions, func(c api.NamespaceCondition) bool {
		ours := slices.ContainsFunc(conditionTable, func(texts conditionTexts) bool { return texts.conditionType == c.Type })
		return ours && c.Status != api.ConditionFalse
	})
}

func countList(counts map[string]int, format string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf(format, name, counts[name]))
	}
	return strings.Join(parts, ", ")
}

// applyConditions returns the conditions that the findings call for, starting from those that the namespace has,
// and whether anything changed. All five are always there. A condition's transition time moves with its status
// only. Conditions of other types are left as they are. current is not changed.
func applyConditions(current []api.NamespaceCondition, f *findings, now time.Time) ([]api.NamespaceCondition, bool) {
	holds := f.trueMessages()
	conditions := slices.Clone(current)
	changed := false
	for _, texts := range conditionTable {
		wanted := api.NamespaceCondition{
			Type:    texts.conditionType,
			Status:  api.ConditionFalse,
			Reason:  texts.reasonFalse,
			Message: texts.messageFalse,
		}
		if message, ok := holds[texts.conditionType]; ok {
			wanted.Status, wanted.Reason, wanted.Message = api.ConditionTrue, texts.reasonTrue, message
		}
		at := slices.IndexFunc(conditions, func(c api.NamespaceCondition) bool { return c.Type == wanted.Type })
		if at < 0 {
			wanted.LastTransitionTime = api.NewTime(now)
			conditions = append(conditions, wanted)
			changed = true
			continue
		}
		wanted.LastTransitionTime = conditions[at].LastTransitionTime
		if conditions[at].Status != wanted.Status {
			wanted.LastTransitionTime = api.NewTime(now)
		}
		if conditions[at] != wanted {
			conditions[at] = wanted
			changed = true
		}
	}
	return conditions, changed
}
