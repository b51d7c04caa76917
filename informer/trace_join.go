package informer

import "orrery/internal/hooks"

// JoinTraces returns a trace that calls the hooks of all traces, in the order of the arguments. Arguments may be nil;
// the result is nil if all are, and the argument itself if there is but one.
func JoinTraces(traces ...*Trace) *Trace {
	return hooks.Traces((*Trace).and, traces...)
}

func (t *Trace) and(u *Trace) *Trace {
	return &Trace{
		Started:         hooks.Join(t.Started, u.Started),
		Stopped:         hooks.Join(t.Stopped, u.Stopped),
		Synced:          hooks.Join(t.Synced, u.Synced),
		HandlerAdded:    hooks.Join2(t.HandlerAdded, u.HandlerAdded),
		HandlerRemoved:  hooks.Join(t.HandlerRemoved, u.HandlerRemoved),
		HandlerEnded:    hooks.Join2(t.HandlerEnded, u.HandlerEnded),
		HandlerSynced:   hooks.Join(t.HandlerSynced, u.HandlerSynced),
		HandlerLagging:  hooks.Join2(t.HandlerLagging, u.HandlerLagging),
		HandlerBlocked:  hooks.Join2(t.HandlerBlocked, u.HandlerBlocked),
		HandlerStuck:    hooks.Join(t.HandlerStuck, u.HandlerStuck),
		HandlerPanicked: hooks.Join4(t.HandlerPanicked, u.HandlerPanicked),
		Distributed:     hooks.Join3(t.Distributed, u.Distributed),
		Handled:         hooks.Join4(t.Handled, u.Handled),
		ResyncDue:       hooks.Join2(t.ResyncDue, u.ResyncDue),
		ProcessError:    hooks.Join2(t.ProcessError, u.ProcessError),
		Mutated:         hooks.Join2(t.Mutated, u.Mutated),
	}
}
