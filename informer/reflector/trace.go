package reflector

import (
	"time"

	"orrery/internal/hooks"
	"orrery/restclient/api"
)

// Trace is a set of hooks that show what a Reflector does, in the manner of net/http/httptrace. Any of them, and the
// pointer itself, may be nil.
//
// Hooks run while the Reflector holds its lock, mostly on the goroutine of Run and sometimes on the one that keeps
// the time, never two at once. They must return soon. They may call Snapshot and LastSyncResourceVersion, which show
// the state before the step that is being made.
type Trace struct {
	// StateChanged: one phase was left for another; on names what happened.
	StateChanged func(from, to Phase, on string)

	// PageListed: a page of a list has come.
	PageListed func(PageInfo)
	// Listed: the store has the whole state, from a list or a streaming list.
	Listed func(ListInfo)
	// StreamingListAbandoned: the state is going to be listed instead.
	StreamingListAbandoned func(err error)

	// WatchStarted: a watch or streaming list is open. opts are those of the request.
	WatchStarted func(opts api.ListOptions)
	// Event: an object was added, modified or deleted; the store is told next. During a streaming list the objects
	// are collected first. An unknown type is passed on here and goes nowhere.
	Event func(kind api.WatchEventType, resourceVersion string)
	// Bookmark: the stream has come as far as resourceVersion. initial: and this ends the initial events.
	Bookmark func(resourceVersion string, initial bool)
	// WatchEnded: an open watch or streaming list is closed.
	WatchEnded func(WatchInfo)

	// BackOff: the next attempt waits for delay, because of err.
	BackOff func(delay time.Duration, err error)
	// Expired: the server has refused the position resourceVersion (410, or too large for it); the state is fetched
	// anew by a consistent read.
	Expired func(resourceVersion string, err error)
	// IdleTimeout: nothing came on a watch for that long, or no answer to the request for one; it is opened again at its
	// position. On a quiet watch of a server that sends no bookmarks that is ordinary.
	IdleTimeout func(silence time.Duration)

	// Resync: Store.Resync was called and returned err.
	Resync func(err error)
	// StoreFailed: the store did not take something. For Add, Update and Delete this is the only notice.
	StoreFailed func(*StoreError)
}

// PageInfo is about one page.
type PageInfo struct {
	ResourceVersion string
	Page            int // from 1
	Items           int
	More            bool
}

// ListInfo is about a complete state.
type ListInfo struct {
	ResourceVersion string
	Items           int
	Pages           int // 0: a streaming list
	Streamed        bool
	Duration        time.Duration // from the first request
}

// WatchInfo is about a watch that was closed.
type WatchInfo struct {
	ResourceVersion string        // the position it had reached
	Events          int           // changes and bookmarks delivered, without the initial events of a complete streaming list
	Lasted          time.Duration // since it was opened, or since those ended
	Err             error         // why; io.EOF if the server ended it in good order, nil if we stopped
}

// complete returns a trace with a hook in every field, so that a Reflector calls hooks without asking whether there is one.
func (t *Trace) complete() *Trace {
	c := Trace{}
	if t != nil {
		c = *t
	}
	hooks.Default(&c.StateChanged, func(Phase, Phase, string) {})
	hooks.Default(&c.PageListed, func(PageInfo) {})
	hooks.Default(&c.Listed, func(ListInfo) {})
	hooks.Default(&c.StreamingListAbandoned, func(error) {})
	hooks.Default(&c.WatchStarted, func(api.ListOptions) {})
	hooks.Default(&c.Event, func(api.WatchEventType, string) {})
	hooks.Default(&c.Bookmark, func(string, bool) {})
	hooks.Default(&c.WatchEnded, func(WatchInfo) {})
	hooks.Default(&c.BackOff, func(time.Duration, error) {})
	hooks.Default(&c.Expired, func(string, error) {})
	hooks.Default(&c.IdleTimeout, func(time.Duration) {})
	hooks.Default(&c.Resync, func(error) {})
	hooks.Default(&c.StoreFailed, func(*StoreError) {})
	return &c
}

// JoinTraces returns a trace that calls the hooks of all traces, in the order of the arguments. Arguments may be nil;
// the result is nil if all are, and the argument itself if there is but one.
func JoinTraces(traces ...*Trace) *Trace {
	return hooks.Traces((*Trace).and, traces...)
}

func (t *Trace) and(u *Trace) *Trace {
	return &Trace{
		StateChanged:           hooks.Join3(t.StateChanged, u.StateChanged),
		PageListed:             hooks.Join(t.PageListed, u.PageListed),
		Listed:                 hooks.Join(t.Listed, u.Listed),
		StreamingListAbandoned: hooks.Join(t.StreamingListAbandoned, u.StreamingListAbandoned),
		WatchStarted:           hooks.Join(t.WatchStarted, u.WatchStarted),
		Event:                  hooks.Join2(t.Event, u.Event),
		Bookmark:               hooks.Join2(t.Bookmark, u.Bookmark),
		WatchEnded:             hooks.Join(t.WatchEnded, u.WatchEnded),
		BackOff:                hooks.Join2(t.BackOff, u.BackOff),
		Expired:                hooks.Join2(t.Expired, u.Expired),
		IdleTimeout:            hooks.Join(t.IdleTimeout, u.IdleTimeout),
		Resync:                 hooks.Join(t.Resync, u.Resync),
		StoreFailed:            hooks.Join(t.StoreFailed, u.StoreFailed),
	}
}
