package why

import (
	"fmt"
	"slices"

	"orrery/internal/words"
	"orrery/restclient/api"
)

// This page says whether a namespace makes progress, and what speaks against that.

// unexplained says what shows that a part of the namespace may hang while another one goes; "" for
// nothing.
func (e *Evidence) unexplained() string {
	content := e.condition(api.NamespaceDeletionContentFailure)
	_, unread := e.left()
	switch {
	case e.age() < backOffCap, e.vouched():
	case e.Incomplete != "":
		return "; the examination ended early, so not all causes were looked for"
	case e.overdue() != "":
		return "; but " + e.overdue()
	case len(unread) > 0 && !e.onlyPodsYet():
		return fmt.Sprintf("; but %s could not be read", types(unread))
	case content != "" && !e.onlyPodsYet():
		return fmt.Sprintf("; but ContentFailure says %.200q", content)
	}
	return ""
}

// progress returns the proof that the deletion makes progress, or "".
func (e *Evidence) progress() string {
	if e.Second == nil {
		return ""
	}
	if released := e.released(); released != "" {
		return released + " was removed between the samples"
	}
	for _, t := range e.Second.Types {
		if first := e.typeOf(t.Group, t.Resource); first != nil && first.shrankTo(t) {
			return fmt.Sprintf("%s had %s, and %d after %s", t.Name(), words.Count(first.Count, "object"), t.Count,
				words.Duration(e.Second.At.Sub(e.At)))
		}
	}
	return ""
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
