package reflector

import (
	"time"

	"orrery/internal/hooks"
	"orrery/restclient/api"
)

// Trace is a set of hooks that observe a Reflector, in the manner of net/http/httptrace. The
// pointer and any of the hooks may be nil.
//
// Hooks run while the Reflector holds its lock, on the goroutine of Run or that of the timers,
// never two at once. They must return soon. They may call Snapshot and LastSyncResourceVersion,
// which return the state before the present step.
type Trace struct {
	// StateChanged: the phase changed; on names the input.
	StateChanged func(from, to Phase, on string)

	// PageListed: a page of a list has arrived.
	PageListed func(PageInfo)
	// Listed: the store has the complete state, from a list or a streaming list.
	Listed func(ListInfo)
	// StreamingListAbandoned: the state will be listed instead.
	StreamingListAbandoned func(err error)

	// WatchStarted: a watch or streaming list is open. opts are the request's options.
	WatchStarted func(opts api.ListOptions)
	// Event: an object was added, modified or deleted; the store gets it next. Objects of a
	// streaming list are collected first. An unknown type is only reported here.
	Event func(EventInfo)
	// Bookmark: the stream has reached resourceVersion. initial: this ends the initial events.
	Bookmark func(resourceVersion string, initial bool)
	// WatchEnded: an open watch or streaming list is closed.
	WatchEnded func(WatchInfo)

	// BackOff: the next attempt waits for delay because of err.
	BackOff func(delay time.Duration, err error)
	// Expired: the server has refused resourceVersion (410, or too large). A list follows: at this
	// version after a watch, and as a consistent read after a list.
	Expired func(resourceVersion string, err error)
	// IdleTimeout: a watch was silent for this long, or its request was not answered; it is
	// reopened at its position. That is ordinary for a quiet watch of a server without bookmarks.
	IdleTimeout func(silence time.Duration)

	// Resync: Store.Resync was called and returned err.
	Resync func(err error)
	// StoreFailed: a call of the store failed. For Add, Update and Delete this is the only report.
	StoreFailed func(*StoreError)
}

// EventInfo describes an event of a watch.
type EventInfo struct {
	Type            api.WatchEventType
	ResourceVersion string
	// Namespace, Name and UID identify the object. They are empty if it does not have these
	// methods.
	Namespace, Name, UID string
}

// EventInfoOf returns the description of e.
func EventInfoOf[T any](e api.WatchEvent[T]) EventInfo {
	info := EventInfo{Type: e.Type, ResourceVersion: e.ResourceVersion}
	switch e.Type {
	case api.WatchAdded, api.WatchModified, api.WatchDeleted:
		if object, ok := any(e.Object).(identified); ok {
			info.Namespace, info.Name, info.UID = object.GetNamespace(), object.GetName(), object.GetUID()
		}
	} // an event of another type may have no object
	return info
}

type identified interface {
	GetNamespace() string
	GetName() string
	GetUID() string
}

// PageInfo describes one page.
type PageInfo struct {
	ResourceVersion string
	Page            int // from 1
	Items           int
	More            bool
}

// ListInfo describes a complete state.
type ListInfo struct {
	ResourceVersion string
	Items           int
	Pages           int // 0: a streaming list
	Streamed        bool
	Duration        time.Duration // from the first request
}

// WatchInfo describes a watch that was closed.
type WatchInfo struct {
	ResourceVersion string        // the position reached
	Events          int           // changes and bookmarks delivered, without the initial events of a complete streaming list
	Lasted          time.Duration // since it was opened, or since those ended
	Err             error         // the reason; io.EOF if the server ended it normally, nil if Run was stopped
}

// complete returns a trace with a no-op in each nil hook but Event, whose argument is only made for
// a hook.
func (t *Trace) complete() *Trace { return hooks.Complete(t, "Event") }

// JoinTraces returns a trace that calls the hooks of all traces, in the order of the arguments.
// Arguments may be nil; the result is nil if all are, and the argument itself if only one is not.
func JoinTraces(traces ...*Trace) *Trace {
	return hooks.Join(traces...)
}
