package registry

import (
	"orrery/internal/lab/apiserver/store"
)

// Trace holds hooks that are called when something happens that the store's own hooks do not tell. Each may be nil. They
// run on the goroutine of the request.
type Trace struct {
	// Raced is called when a write has to be tried again because somebody else was faster.
	Raced func(t Target)
	// Refused is called when admission has refused a write.
	Refused func(a Attributes, err error)
	// Marked is called when an object has been marked as being deleted, which is not the same as removed: finalizers or
	// a grace period hold it.
	Marked func(t Target, o *store.Object)
	// Removed is called when an object has been removed.
	Removed func(t Target, last *store.Object)
}

// The methods below call a hook if there is one. A nil Trace has none.

func (h *Trace) raced(t Target) {
	if h != nil && h.Raced != nil {
		h.Raced(t)
	}
}

func (h *Trace) refused(a Attributes, err error) {
	if h != nil && h.Refused != nil {
		h.Refused(a, err)
	}
}

func (h *Trace) marked(t Target, o *store.Object) {
	if h != nil && h.Marked != nil {
		h.Marked(t, o)
	}
}

func (h *Trace) removed(t Target, last *store.Object) {
	if h != nil && h.Removed != nil {
		h.Removed(t, last)
	}
}
