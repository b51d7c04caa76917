package reflector

import "orrery/internal/hooks"

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
		Zombie:                 hooks.Join2(t.Zombie, u.Zombie),
		Resync:                 hooks.Join(t.Resync, u.Resync),
		StoreFailed:            hooks.Join(t.StoreFailed, u.StoreFailed),
	}
}
