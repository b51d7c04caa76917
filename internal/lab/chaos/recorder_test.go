package chaos

import (
	"sync/atomic"
	"time"

	"orrery/informer"
	"orrery/internal/lab/chaos/history"
)

// recorder is a handler that records its history and takes as long as planned.
type recorder[T object] struct {
	history *history.History
	plan    HandlerPlan
	quiet   *atomic.Bool // at quiet points handlers are not slow: slowness is a fault
	handled atomic.Int64
}

// OnAdd records an addition.
func (r *recorder[T]) OnAdd(o T, initial bool) {
	r.work()
	r.history.Added(keyOf(o), history.StateOf(o), initial)
}

// OnUpdate records an update or a resync.
func (r *recorder[T]) OnUpdate(was, is T) {
	r.work()
	r.history.Updated(keyOf(is), history.StateOf(was), history.StateOf(is))
}

// OnDelete records a deletion.
func (r *recorder[T]) OnDelete(d informer.DeletedObject[T]) {
	r.work()
	r.history.Deleted(d.Key, history.StateOf(d.Object), d.FinalStateUnknown)
}

// work sleeps as long as the plan says.
func (r *recorder[T]) work() {
	number := r.handled.Add(1)
	switch {
	case r.quiet.Load():
	case r.plan.StuckEvery > 0 && number%int64(r.plan.StuckEvery) == 0:
		time.Sleep(r.plan.StuckFor)
	case r.plan.Work > 0:
		time.Sleep(r.plan.Work)
	}
}

func keyOf(o informer.Object) string {
	key, _ := informer.MetaNamespaceKeyFunc(o) // every object of a server has a name
	return key
}
