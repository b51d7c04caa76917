package nsctl

import (
	"context"

	"orrery/internal/hooks"
)

// JoinTraces returns a trace that calls the hooks of all traces, in the order of the arguments. Arguments may be nil;
// the result is nil if all are, and the argument itself if there is but one.
func JoinTraces(traces ...*Trace) *Trace {
	return hooks.Traces((*Trace).and, traces...)
}

func (t *Trace) and(u *Trace) *Trace {
	return &Trace{
		Enqueued:          hooks.Join2(t.Enqueued, u.Enqueued),
		PassContext:       chain(t.PassContext, u.PassContext),
		PassStarted:       hooks.Join(t.PassStarted, u.PassStarted),
		Discovered:        hooks.Join3(t.Discovered, u.Discovered),
		Surveyed:          hooks.Join4(t.Surveyed, u.Surveyed),
		TypeDeleted:       hooks.Join4(t.TypeDeleted, u.TypeDeleted),
		WouldDelete:       hooks.Join4(t.WouldDelete, u.WouldDelete),
		Conflict:          hooks.Join2(t.Conflict, u.Conflict),
		ConditionsUpdated: hooks.Join2(t.ConditionsUpdated, u.ConditionsUpdated),
		ConditionsFailed:  hooks.Join2(t.ConditionsFailed, u.ConditionsFailed),
		Finalized:         hooks.Join2(t.Finalized, u.Finalized),
		PhaseDone:         hooks.Join3(t.PhaseDone, u.PhaseDone),
		PassStuck:         hooks.Join3(t.PassStuck, u.PassStuck),
		PassPanicked:      hooks.Join2(t.PassPanicked, u.PassPanicked),
		PassDone:          hooks.Join4(t.PassDone, u.PassDone),
		Gone:              hooks.Join2(t.Gone, u.Gone),
	}
}

// chain passes what the first returns to the second.
func chain(f, g func(context.Context, string) context.Context) func(context.Context, string) context.Context {
	if f == nil || g == nil {
		return hooks.Either(f, g, f == nil)
	}
	return func(ctx context.Context, namespace string) context.Context { return g(f(ctx, namespace), namespace) }
}
