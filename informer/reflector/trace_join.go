package reflector

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
		StateChanged:           join3(t.StateChanged, u.StateChanged),
		PageListed:             join(t.PageListed, u.PageListed),
		Listed:                 join(t.Listed, u.Listed),
		StreamingListAbandoned: join(t.StreamingListAbandoned, u.StreamingListAbandoned),
		WatchStarted:           join(t.WatchStarted, u.WatchStarted),
		Event:                  join2(t.Event, u.Event),
		Bookmark:               join2(t.Bookmark, u.Bookmark),
		WatchEnded:             join(t.WatchEnded, u.WatchEnded),
		BackOff:                join2(t.BackOff, u.BackOff),
		Expired:                join2(t.Expired, u.Expired),
		IdleTimeout:            join(t.IdleTimeout, u.IdleTimeout),
		Zombie:                 join2(t.Zombie, u.Zombie),
		Resync:                 join(t.Resync, u.Resync),
		StoreFailed:            join(t.StoreFailed, u.StoreFailed),
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

// either returns f, or g if second.
func either[F any](f, g F, second bool) F {
	if second {
		return g
	}
	return f
}
