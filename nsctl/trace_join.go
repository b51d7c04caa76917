package nsctl

import "context"

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
		Enqueued:          join2(t.Enqueued, u.Enqueued),
		PassContext:       chain(t.PassContext, u.PassContext),
		PassStarted:       join(t.PassStarted, u.PassStarted),
		Discovered:        join3(t.Discovered, u.Discovered),
		Surveyed:          join4(t.Surveyed, u.Surveyed),
		TypeDeleted:       join4(t.TypeDeleted, u.TypeDeleted),
		WouldDelete:       join4(t.WouldDelete, u.WouldDelete),
		Conflict:          join2(t.Conflict, u.Conflict),
		ConditionsUpdated: join2(t.ConditionsUpdated, u.ConditionsUpdated),
		ConditionsFailed:  join2(t.ConditionsFailed, u.ConditionsFailed),
		Finalized:         join2(t.Finalized, u.Finalized),
		PhaseDone:         join3(t.PhaseDone, u.PhaseDone),
		PassStuck:         join3(t.PassStuck, u.PassStuck),
		PassPanicked:      join2(t.PassPanicked, u.PassPanicked),
		PassDone:          join4(t.PassDone, u.PassDone),
		Gone:              join2(t.Gone, u.Gone),
	}
}

// chain passes what the first returns to the second.
func chain(f, g func(context.Context, string) context.Context) func(context.Context, string) context.Context {
	if f == nil || g == nil {
		return either(f, g, f == nil)
	}
	return func(ctx context.Context, namespace string) context.Context { return g(f(ctx, namespace), namespace) }
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
