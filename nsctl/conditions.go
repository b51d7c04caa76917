package nsctl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orrery/restclient/api"
)

// conditionTexts are the reasons and messages of one condition. They are upstream's to the letter,
// because dashboards and scripts match on them, except for the message of a condition that is false
// although not everything was looked at: see falseMessage.
type conditionTexts struct {
	conditionType api.NamespaceConditionType
	reasonTrue    string
	reasonFalse   string
	messageFalse  string
	unsure        string // begins the message of one that is false although not everything was looked at
}

// conditionTable is in the order in which the conditions stand in the status.
var conditionTable = []conditionTexts{
	{api.NamespaceDeletionDiscoveryFailure, "DiscoveryFailed", "ResourcesDiscovered",
		"All resources successfully discovered", ""},
	{api.NamespaceDeletionGVParsingFailure, "GroupVersionParsingFailed", "ParsedGroupVersions",
		"All legacy kube types successfully parsed", ""},
	{api.NamespaceDeletionContentFailure, "ContentDeletionFailed", "ContentDeleted",
		"All content successfully deleted, may be waiting on finalization", "No deletion failed"},
	{api.NamespaceContentRemaining, "SomeResourcesRemain", "ContentRemoved",
		"All content successfully removed", "No resources were found to remain"},
	{api.NamespaceFinalizersRemaining, "SomeFinalizersRemain", "ContentHasNoFinalizers",
		"All content-preserving finalizers finished", "No finalizers were found to remain"},
}

// ConditionUpdater collects what a pass over a namespace finds, and writes it into the namespace's
// conditions. The zero value is a pass that found nothing wrong and nothing left.
type ConditionUpdater struct {
	discoveryErr error
	parseErr     error
	contentErrs  []error
	remaining    map[string]int // items left, by resource ("pods.", "deployments.apps")
	podsRemain   bool           // so that nothing else was deleted
	finalizers   map[string]int // items that have each finalizer
}

// ProcessDiscovery records an answer of discovery. It returns the types that the answer lists, and
// an error if types may be missing. An answer without any is wrong.
func (u *ConditionUpdater) ProcessDiscovery(lists []*api.APIResourceList, err error) ([]DeletableResource, error) {
	resources, parseErr := DeletableResources(lists)
	if len(resources) == 0 && err == nil && parseErr == nil {
		err = ErrNothingDiscovered
	}
	u.discoveryErr, u.parseErr = err, parseErr
	return resources, err
}

// ProcessContent records what is left of one resource type, and why deleting it failed.
func (u *ConditionUpdater) ProcessContent(gvr api.GroupVersionResource, left Remains, err error) {
	if err != nil {
		u.contentErrs = append(u.contentErrs, err)
	}
	if u.remaining == nil {
		u.remaining, u.finalizers = map[string]int{}, map[string]int{}
	}
	if left.Items > 0 {
		u.podsRemain = u.podsRemain || gvr == api.PodsResource
		u.remaining[gvr.GroupResource()] += left.Items
	}
	for finalizer, count := range left.Finalizers {
		u.finalizers[finalizer] += count
	}
}

// DiscoveryFailed reports whether types may be missing.
func (u *ConditionUpdater) DiscoveryFailed() bool { return u.discoveryErr != nil }

// Err returns everything that went wrong as a *[ContentError], or nil.
func (u *ConditionUpdater) Err() error {
	return contentError(append([]error{u.discoveryErr, u.parseErr}, u.contentErrs...))
}

// Update returns the namespace with the conditions that the findings call for, and whether they
// differ from those that it has. All five are always there. A condition's transition time changes
// with its status only. Conditions of other types stay. The namespace itself is not changed.
func (u *ConditionUpdater) Update(namespace *api.Namespace) (updated *api.Namespace, changed bool) {
	conditions, changed := u.apply(namespace.Status.Conditions, time.Now())
	if !changed {
		return namespace, false
	}
	reported := *namespace
	reported.Status.Conditions = conditions
	return &reported, true
}

// trueMessages returns the message of each condition that is true.
func (u *ConditionUpdater) trueMessages() map[api.NamespaceConditionType]string {
	messages := map[api.NamespaceConditionType]string{}
	if u.discoveryErr != nil {
		messages[api.NamespaceDeletionDiscoveryFailure] = discoveryMessage(u.discoveryErr)
	}
	if u.parseErr != nil {
		messages[api.NamespaceDeletionGVParsingFailure] = u.parseErr.Error()
	}
	if len(u.contentErrs) > 0 {
		texts := make([]string, len(u.contentErrs))
		for i, err := range u.contentErrs {
			texts[i] = conditionText(err)
		}
		slices.Sort(texts)
		messages[api.NamespaceDeletionContentFailure] = fmt.Sprintf(
			"Failed to delete all resource types, %d remaining: %s", len(texts), strings.Join(texts, ", "))
	}
	if len(u.remaining) > 0 {
		messages[api.NamespaceContentRemaining] = "Some resources are remaining: " +
			countList(u.remaining, "%s has %d resource instances")
	}
	if len(u.finalizers) > 0 {
		messages[api.NamespaceFinalizersRemaining] = "Some content in the namespace has finalizers remaining: " +
			countList(u.finalizers, "%s in %d resource instances")
	}
	return messages
}

// falseMessage returns the message of a condition that is false. Upstream calls all content removed
// even if nothing but pods was looked at, types could not be discovered, or deleting failed
// (#138208). Type, status and reason are the same.
func (u *ConditionUpdater) falseMessage(texts conditionTexts) string {
	switch {
	case texts.unsure == "":
	case u.podsRemain:
		return texts.unsure + ", but pods remain, and everything else is looked at after them"
	case texts.conditionType == api.NamespaceDeletionContentFailure:
	case u.discoveryErr != nil || u.parseErr != nil:
		return texts.unsure + ", but not all resources could be discovered"
	case len(u.contentErrs) > 0:
		return texts.unsure + ", but not all resources could be deleted"
	}
	return texts.messageFalse
}

// ReportsTrouble reports whether any of the five conditions is not false.
func ReportsTrouble(conditions []api.NamespaceCondition) bool {
	return slices.ContainsFunc(conditions, func(c api.NamespaceCondition) bool {
		ours := slices.ContainsFunc(conditionTable,
			func(texts conditionTexts) bool { return texts.conditionType == c.Type })
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

// apply returns the five conditions, and those of other types, and whether anything changed.
// current stays as it is.
func (u *ConditionUpdater) apply(current []api.NamespaceCondition, now time.Time) ([]api.NamespaceCondition, bool) {
	holds := u.trueMessages()
	conditions := slices.Clone(current)
	changed := false
	for _, texts := range conditionTable {
		wanted := api.NamespaceCondition{
			Type:    texts.conditionType,
			Status:  api.ConditionFalse,
			Reason:  texts.reasonFalse,
			Message: u.falseMessage(texts),
		}
		if message, ok := holds[texts.conditionType]; ok {
			wanted.Status, wanted.Reason = api.ConditionTrue, texts.reasonTrue
			wanted.Message = cutText(message, maxMessage)
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

// contentError returns a *ContentError of all that are not nil, or nil.
func contentError(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) == 0 {
		return nil
	}
	return &ContentError{Errors: errs}
}
