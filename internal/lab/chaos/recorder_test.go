package chaos

import (
	"sync/atomic"
	"time"

	"orrery/informer"
	"orrery/internal/lab/chaos/history"
)

// recorder is a handler that writes its history, and takes its time.
type recorder[T object] struct {
	history *history.History
	plan    HandlerPlan
	quiet   *atomic.Bool // to be slow is a fault like any other: at quiet points nobody is
	handled atomic.Int64
}

// OnAdd is told of an object.
func (r *recorder[T]) OnAdd(o T, initial bool) {
	r.work()
	r.history.Added(keyOf(o), history.StateOf(o), initial)
}

// OnUpdate is told of a new state, or reminded of the old one.
func (r *recorder[T]) OnUpdate(was, is T) {
	r.work()
	r.history.Updated(keyOf(is), history.StateOf(was), history.StateOf(is))
}

// OnDelete is told that an object is gone.
func (r *recorder[T]) OnDelete(d informer.DeletedObject[T]) {
	r.work()
	r.history.Deleted(d.Key, history.StateOf(d.Object), d.FinalStateUnknown)
}

// work takes as long as the plan says.
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
