package restclient

import "orrery/internal/hooks"

// JoinTraces returns a trace that calls the hooks of all traces, in the order of the arguments. Arguments may be nil;
// the result is nil if all are, and the argument itself if there is but one.
func JoinTraces(traces ...*Trace) *Trace {
	return hooks.Traces((*Trace).and, traces...)
}

func (t *Trace) and(u *Trace) *Trace {
	return &Trace{
		RequestStart: hooks.Join(t.RequestStart, u.RequestStart),
		RequestDone:  hooks.Join2(t.RequestDone, u.RequestDone),
		Finished:     hooks.Join2(t.Finished, u.Finished),
		Retry:        hooks.Join3(t.Retry, u.Retry),
		Throttled:    hooks.Join2(t.Throttled, u.Throttled),
		WatchOpened:  hooks.Join(t.WatchOpened, u.WatchOpened),
		WatchFrame:   hooks.Join3(t.WatchFrame, u.WatchFrame),
		WatchClosed:  hooks.Join4(t.WatchClosed, u.WatchClosed),
		Warning:      hooks.Join(t.Warning, u.Warning),
	}
}
