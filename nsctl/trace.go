package nsctl

import (
	"context"
	"errors"
	"time"

	"orrery/controller"
	"orrery/internal/hooks"
	"orrery/restclient/api"
	"orrery/wait"
)

// Trace is a set of hooks that are called as the controller works, in the manner of
// httptrace.ClientTrace. The pointer and each hook may be nil. Hooks run on the goroutine that does
// the work, several at a time; they must not block.
type Trace struct {
	// Enqueued: the namespace was seen terminating; a pass follows after the delay. Called with
	// each resync and each change of the namespace, except of its status, and when a standby begins
	// to work, not earlier; the namespace must not be changed.
	Enqueued func(namespace *api.Namespace, after time.Duration)
	// PassContext returns the context for everything that is done in a pass: ctx, or one that is
	// derived from it and carries the name of the pass, see [restclient.WithOrigin].
	PassContext func(ctx context.Context, namespace string) context.Context
	// PassStarted: a worker begins a pass.
	PassStarted func(namespace string)
	// Discovered: the types that may have content are known; err if some or all groups failed.
	Discovered func(namespace string, types int, err error)
	// EmptinessChecked: types is the number of types that were listed once for all namespaces, seen
	// that of the lists which were complete. Called when several passes are under way; ctx is the
	// context of the pass that asked.
	EmptinessChecked func(ctx context.Context, types, seen int, took time.Duration)
	// TypeDeleted: one type was deleted; remaining objects are still there. err is what the pass
	// fails with. Called from several goroutines.
	TypeDeleted func(namespace string, resource api.GroupVersionResource, remaining int, err error)
	// WouldDelete: in a dry run, what there is of a type, and what a real run would delete of it.
	WouldDelete func(namespace string, resource api.GroupVersionResource, found Found, err error)
	// NoToken: the pass has done nothing, because the namespace does not have this controller's
	// token; finalizers are the tokens that it has.
	NoToken func(namespace string, finalizers []string)
	// Conflict: another client changed the namespace; the write is repeated on the new state.
	Conflict func(namespace string, err error)
	// ConditionsUpdated: the status was written.
	ConditionsUpdated func(namespace string, conditions []api.NamespaceCondition)
	// ConditionsKept: the status has these conditions already.
	ConditionsKept func(namespace string, conditions []api.NamespaceCondition)
	// ConditionsFailed: the status could not be written. The deletion goes on.
	ConditionsFailed func(namespace string, err error)
	// Finalized: this controller's token was removed, or that failed.
	Finalized func(namespace string, err error)
	// PhaseStarted: a part of a pass begins, see [Phase]. It is not called for the two that are
	// between passes.
	PhaseStarted func(namespace string, phase Phase)
	// PhaseDone: a part of the deletion is over, see [Phase].
	PhaseDone func(namespace string, phase Phase, took time.Duration)
	// PassStuck: a pass has been under way for [controller.StuckAfter], for twice that, and so on;
	// waiting is how many namespaces wait for a worker. Called on a goroutine of its own; a panic
	// goes to wait.HandleCrash.
	PassStuck func(namespace string, running time.Duration, waiting int)
	// PassPanicked: a pass panicked. It counts as failed, a fault in this program or in a hook, and
	// is repeated.
	PassPanicked func(namespace string, err *wait.Panic)
	// PassDone: the pass is over. err is nil, *ResourcesRemainingError, or why the pass failed;
	// failures counts the failed passes since the last one that succeeded.
	PassDone func(namespace string, took time.Duration, failures int, err error)
	// Gone: a namespace that was seen terminating does not exist any more; took is the time since
	// its deletion began, see [DeletionBegan]. Passes that find that out themselves end before or
	// after this. A standby does not report Gone; the leader does.
	Gone func(namespace string, took time.Duration)
}

// complete returns a trace whose hooks may be called without a check, except PassStuck.
func (t *Trace) complete() *Trace { return hooks.Complete(t, "PassStuck") }

// Phase begins a phase and returns the function that ends it. The trace must be complete, as that
// of [DeleterConfig.WithDefaults] is.
func (t *Trace) Phase(namespace string, phase Phase) (end func()) {
	t.PhaseStarted(namespace, phase)
	began := time.Now()
	return func() { t.PhaseDone(namespace, phase, time.Since(began)) }
}

// passes returns the hooks of the workers.
func (t *Trace) passes() *controller.PoolTrace {
	return &controller.PoolTrace{
		PassContext: t.PassContext,
		PassStarted: t.PassStarted,
		PassStuck:   t.PassStuck,
		PassDone: func(namespace string, took time.Duration, failures int, _ time.Duration, err error) {
			if panicked, ok := errors.AsType[*wait.Panic](err); ok {
				t.PassPanicked(namespace, panicked)
			}
			t.PassDone(namespace, took, failures, err)
		},
	}
}

// JoinTraces returns a trace that calls the hooks of all traces, in the order of the arguments.
// Arguments may be nil; the result is nil if all are, and the argument itself if there is only one.
func JoinTraces(traces ...*Trace) *Trace {
	return hooks.Join(traces...)
}

// Phase is a part of what the deletion of a namespace takes. Together they take the time from the
// moment in which the deletion was seen to the end of the last pass, except microseconds between
// them.
type Phase string

// The phases, in the order in which a deletion goes through them. All but the first come again with
// each pass.
const (
	PhaseGrace          Phase = "grace"           // until a worker took the namespace up: the grace period, and the wait
	PhaseWaiting        Phase = "waiting"         // between passes: content needed time, or the last one had failed
	PhaseReading        Phase = "reading"         // the namespace is read from the server
	PhaseDiscovery      Phase = "discovery"       // waiting for the resource types
	PhaseEmptinessCheck Phase = "emptiness_check" // waiting for the types without content in any terminating namespace
	PhasePods           Phase = "pods"            // deleting pods, and looking at what is left of them, alone
	PhaseContent        Phase = "content"         // deleting everything else
	PhaseReport         Phase = "report"          // writing conditions and phase of the namespace
	PhaseFinalization   Phase = "finalization"    // removing this controller's token
)

// Phases returns all phases in their order.
func Phases() []Phase {
	return []Phase{PhaseGrace, PhaseWaiting, PhaseReading, PhaseDiscovery, PhaseEmptinessCheck, PhasePods, PhaseContent,
		PhaseReport, PhaseFinalization}
}
