package restclient

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
		RequestStart: join(t.RequestStart, u.RequestStart),
		RequestDone:  join2(t.RequestDone, u.RequestDone),
		Finished:     join2(t.Finished, u.Finished),
		Retry:        join3(t.Retry, u.Retry),
		Throttled:    join2(t.Throttled, u.Throttled),
		WatchOpened:  join(t.WatchOpened, u.WatchOpened),
		WatchFrame:   join3(t.WatchFrame, u.WatchFrame),
		WatchClosed:  join4(t.WatchClosed, u.WatchClosed),
		Warning:      join(t.Warning, u.Warning),
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
