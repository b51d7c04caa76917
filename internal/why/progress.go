package why

import (
	"fmt"
	"slices"
	"strings"

	"orrery/internal/words"
	"orrery/restclient/api"
)

// This page says whether a namespace makes progress, and what speaks against that.

// remain matches a type, or a finalizer, in the conditions that say what remains.
var remain = lazyPattern(`([^ ,]+) (?:has|in) \d+ resource instances`)

// unexplained says what shows that a part of the namespace may hang while another one goes; "" for
// nothing.
func (e *Evidence) unexplained() string {
	content := e.condition(api.NamespaceDeletionContentFailure)
	_, unread := e.left()
	named := remain().FindAllStringSubmatch(e.condition(api.NamespaceContentRemaining)+", "+e.condition(api.NamespaceFinalizersRemaining), -1)
	hidden := slices.IndexFunc(named, func(match []string) bool {
		return slices.Contains(unread, strings.TrimSuffix(match[1], ".")) || len(unread) > 0 && strings.Contains(match[0], " in ") && !e.hasFinalizer(match[1])
	})
	switch {
	case e.age() < backOffCap:
	case e.Incomplete != "":
		return "; the examination ended early, so not all causes were looked for"
	case e.overdue() != "":
		return "; but " + e.overdue()
	case hidden >= 0:
		return fmt.Sprintf("; but %s remains, of what could not be read", strings.TrimSuffix(named[hidden][1], "."))
	case content != "" && !e.onlyPodsYet():
		return fmt.Sprintf("; but ContentFailure says %.200q", content)
	}
	return ""
}

// hasFinalizer reports whether an object that was read has a finalizer.
func (e *Evidence) hasFinalizer(finalizer string) bool {
	return slices.ContainsFunc(e.Types, func(t Type) bool { return t.Finalizers[finalizer] > 0 })
}

// progress returns the proof that the deletion makes progress, or "". It is certain if nothing else
// may hang meanwhile.
func progress(e *Evidence) (proof string, certain bool) {
	if s := e.Second; s != nil {
		if released := e.released(); released != "" {
			return released + " was removed between the samples", released == api.FinalizerKubernetes
		}
		for _, t := range s.Types {
			if first := e.typeOf(t.Group, t.Resource); first != nil && first.shrankTo(t) {
				return fmt.Sprintf("%s had %s, and %d after %s",
					t.Name(), words.Count(first.Count, "object"), t.Count, words.Duration(s.At.Sub(e.At))), false
			}
		}
	}
	// ContentFailure may be about a deletion, which no list repeats.
	if c := e.unconfirmed(); c != nil && c.Type != api.NamespaceDeletionContentFailure && e.recent(*c) &&
		!controllerOff(e, &Finding{}, namespaceController) {
		return fmt.Sprintf("%s no longer holds, and the next pass comes within %s",
			short(c.Type), words.Duration(backOffCap)), false
	}
	return "", false
}

// written reports whether a controller has written the namespace between the samples. Other
// programs may write labels and annotations.
func (e *Evidence) written() bool {
	same := func(a, b api.NamespaceCondition) bool {
		return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message
	}
	return e.Second.Namespace.ResourceVersion != e.Namespace.ResourceVersion && (e.released() != "" ||
		!slices.EqualFunc(e.Second.Namespace.Conditions, e.Namespace.Conditions, same))
}

// released returns a token or finalizer of the namespace that the second sample lacks, "" for none.
func (e *Evidence) released() string {
	again := slices.Concat(e.Second.Namespace.SpecFinalizers, e.Second.Namespace.Finalizers)
	for _, finalizer := range slices.Concat(e.Namespace.SpecFinalizers, e.Namespace.Finalizers) {
		if !slices.Contains(again, finalizer) {
			return finalizer
		}
	}
	return ""
}

// unconfirmed returns a condition that is True although nothing that was read agrees, nil for none.
func (e *Evidence) unconfirmed() *api.NamespaceCondition {
	objects, unread := e.left()
	for i, c := range e.Latest().Conditions {
		holds := objects > 0 || len(unread) > 0
		if c.Type == api.NamespaceDeletionDiscoveryFailure {
			holds = len(e.Undiscovered()) > 0 || e.Discovery.Refused != nil || slices.ContainsFunc(e.APIServices.Items, func(a APIService) bool {
				return a.Available != "True" && e.saysUndiscovered(a.GroupVersion) // its discovery comes and goes
			})
		}
		if isDeletionCondition(c.Type) && c.Status == api.ConditionTrue && !holds {
			return &e.Latest().Conditions[i]
		}
	}
	return nil
}

// recent reports whether a condition was written so lately that the controller may not have come
// back to it.
func (e *Evidence) recent(c api.NamespaceCondition) bool {
	since := e.now().Add(-2 * backOffCap)
	return c.LastTransitionTime.After(since) || slices.ContainsFunc(e.Latest().Writers, func(w Writer) bool { return w.At.After(since) })
}
