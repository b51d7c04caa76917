package informer

// JoinTraces returns a trace that calls the hooks of all traces, in the order of the arguments. Arguments may be nil;
// the result is nil if all are, and the argument itself if there is but one.
func JoinTraces(traces ...*Trace) *Trace {
	var joined *Trace
	for _, t := range traces {
		switch {
		case t == nil:
		case joined == nil:
			joined = t
		default:
			joined = joined.and(t)
		}
	}
	return joined
}

func (t *Trace) and(u *Trace) *Trace {
	return &Trace{
		Started:         join(t.Started, u.Started),
		Stopped:         join(t.Stopped, u.Stopped),
		Synced:          join(t.Synced, u.Synced),
		HandlerAdded:    join2(t.HandlerAdded, u.HandlerAdded),
		HandlerRemoved:  join(t.HandlerRemoved, u.HandlerRemoved),
		HandlerEnded:    join2(t.HandlerEnded, u.HandlerEnded),
		HandlerSynced:   join(t.HandlerSynced, u.HandlerSynced),
		HandlerLagging:  join2(t.HandlerLagging, u.HandlerLagging),
		HandlerBlocked:  join2(t.HandlerBlocked, u.HandlerBlocked),
		HandlerStuck:    join(t.HandlerStuck, u.HandlerStuck),
		HandlerPanicked: join4(t.HandlerPanicked, u.HandlerPanicked),
		Distributed:     join3(t.Distributed, u.Distributed),
		Handled:         join4(t.Handled, u.Handled),
		ResyncDue:       join2(t.ResyncDue, u.ResyncDue),
		ProcessError:    join2(t.ProcessError, u.ProcessError),
		Mutated:         join2(t.Mutated, u.Mutated),
	}
}

func join[A any](f, g func(A)) func(A) {
	if f == nil || g == nil {
		return either(f, g, f == nil)
	}
	return func(a A) { f(a); g(a) }
}

func join2[A, B any](f, g func(A, B)) func(A, B) {
	if f == nil || g == nil {
		return either(f, g, f == nil)
	}
	return func(a A, b B) { f(a, b); g(a, b) }
}

func join3[A, B, C any](f, g func(A, B, C)) func(A, B, C) {
	if f == nil || g == nil {
		return either(f, g, f == nil)
	}
	return func(a A, b B, c C) { f(a, b, c); g(a, b, c) }
}

func join4[A, B, C, D any](f, g func(A, B, C, D)) func(A, B, C, D) {
	if f == nil || g == nil {
		return either(f, g, f == nil)
	}
	return func(a A, b B, c C, d D) { f(a, b, c, d); g(a, b, c, d) }
}

// either returns f, or g if second.
func either[F any](f, g F, second bool) F {
	if second {
		return g
	}
	return f
}
