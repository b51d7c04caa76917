package nsctl

import (
	"context"
	"time"

	"orrery/restclient/api"
)

// Trace is a set of hooks that are called as the controller works, in the manner of httptrace.ClientTrace. Any
// of them may be nil, and so may the pointer: that costs one branch. Hooks run on the goroutine that does the
// work, several at a time; they must not block.
type Trace struct {
	// Enqueued: the namespace was seen in deletion and is going to be looked at after the delay. Called with each
	// change of the namespace and each resync; it must not be changed.
	Enqueued func(namespace *api.Namespace, after time.Duration)
	// PassContext is asked before a pass for the context that everything in it is done with, requests above all; it
	// returns the one that it gets, or one that is derived from it and carries the name of the pass, see
	// [restclient.WithOrigin].
	PassContext func(ctx context.Context, namespace string) context.Context
	// PassStarted: a worker begins a pass.
	PassStarted func(namespace string)
	// Discovered: the types that may have content are known; err if some or all groups failed.
	Discovered func(namespace string, types int, err error)
	// Surveyed: all namespaces were asked at once which of these types they hold; so many of them could be seen as a
	// whole. It happens when several passes are under way; the context is that of the one which asked for all.
	Surveyed func(ctx context.Context, types, seen int, took time.Duration)
	// TypeDeleted: one type was told to go; remaining is what is still there. err is what the pass fails with: a type that was
	// not found because it does not exist any more is no error. Called from several goroutines.
	TypeDeleted func(namespace string, resource api.GroupVersionResource, remaining int, err error)
	// WouldDelete: in a dry run, what a real one would delete.
	WouldDelete func(namespace string, resource api.GroupVersionResource, items int, err error)
	// Conflict: somebody else changed the namespace; the write is repeated on the new state.
	Conflict func(namespace string, err error)
	// ConditionsUpdated: the status was written.
	ConditionsUpdated func(namespace string, conditions []api.NamespaceCondition)
	// ConditionsFailed: the status could not be written. The deletion goes on.
	ConditionsFailed func(namespace string, err error)
	// Finalized: this controller's token was removed, or that failed.
	Finalized func(namespace string, err error)
	// PhaseDone: a part of the deletion is over, see [Phase].
	PhaseDone func(namespace string, phase Phase, took time.Duration)
	// PassStuck: a pass has been under way for [StuckAfter], for twice that, and so on; so many namespaces wait for a
	// worker meanwhile. Called on a goroutine of its own; a panic goes to wait.HandleCrash.
	PassStuck func(namespace string, running time.Duration, waiting int)
	// PassPanicked: a pass panicked. It counts as failed, see [PanicError], and is repeated as any other.
	PassPanicked func(namespace string, err *PanicError)
	// PassDone: the pass is over. err is nil, *ResourcesRemainingError, or why the pass failed; failures counts
	// the failed passes since the last one that went well.
	PassDone func(namespace string, took time.Duration, failures int, err error)
	// Gone: a namespace that was seen in deletion does not exist any more; took is the time since it was seen. Passes that
	// find that out themselves end before or after this. A controller that stands by does not tell it: the one that works does.
	Gone func(namespace string, took time.Duration)
}

func (t *Trace) enqueued(namespace *api.Namespace, after time.Duration) {
	if t != nil && t.Enqueued != nil {
		t.Enqueued(namespace, after)
	}
}

func (t *Trace) passContext(ctx context.Context, namespace string) context.Context {
	if t != nil && t.PassContext != nil {
		return t.PassContext(ctx, namespace)
	}
	return ctx
}

func (t *Trace) passStarted(namespace string) {
	if t != nil && t.PassStarted != nil {
		t.PassStarted(namespace)
	}
}

func (t *Trace) discovered(namespace string, types int, err error) {
	if t != nil && t.Discovered != nil {
		t.Discovered(namespace, types, err)
	}
}

func (t *Trace) surveyed(ctx context.Context, types, seen int, took time.Duration) {
	if t != nil && t.Surveyed != nil {
		t.Surveyed(ctx, types, seen, took)
	}
}

func (t *Trace) typeDeleted(namespace string, resource api.GroupVersionResource, remaining int, err error) {
	if t != nil && t.TypeDeleted != nil {
		t.TypeDeleted(namespace, resource, remaining, err)
	}
}

func (t *Trace) wouldDelete(namespace string, resource api.GroupVersionResource, items int, err error) {
	if t != nil && t.WouldDelete != nil {
		t.WouldDelete(namespace, resource, items, err)
	}
}

func (t *Trace) conflict(namespace string, err error) {
	if t != nil && t.Conflict != nil {
		t.Conflict(namespace, err)
	}
}

func (t *Trace) conditionsUpdated(namespace string, conditions []api.NamespaceCondition) {
	if t != nil && t.ConditionsUpdated != nil {
		t.ConditionsUpdated(namespace, conditions)
	}
}

func (t *Trace) conditionsFailed(namespace string, err error) {
	if t != nil && t.ConditionsFailed != nil {
		t.ConditionsFailed(namespace, err)
	}
}

func (t *Trace) finalized(namespace string, err error) {
	if t != nil && t.Finalized != nil {
		t.Finalized(namespace, err)
	}
}

func (t *Trace) passDone(namespace string, took time.Duration, failures int, err error) {
	if t != nil && t.PassDone != nil {
		t.PassDone(namespace, took, failures, err)
	}
}

func (t *Trace) passStuck(namespace string, running time.Duration, waiting int) {
	if t != nil && t.PassStuck != nil {
		t.PassStuck(namespace, running, waiting)
	}
}

func (t *Trace) passPanicked(namespace string, err *PanicError) {
	if t != nil && t.PassPanicked != nil {
		t.PassPanicked(namespace, err)
	}
}
