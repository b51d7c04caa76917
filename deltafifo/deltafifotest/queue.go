package deltafifotest

import (
	"testing"

	"orrery/deltafifo"
)

// Queue is what the contract is about: deltafifo.Interface without Len and Snapshot, see [Looking].
type Queue interface {
	Add(obj *Object) error
	Update(obj *Object) error
	Delete(obj *Object) error
	Replace(items []*Object, resourceVersion string) error
	Resync() error
	Pop(process func(key string, d deltafifo.Deltas[*Object], isInInitialList bool) error) (deltafifo.Deltas[*Object], error)
	HasSynced() bool
	Synced() <-chan struct{}
	Close()
}

// Implementation is what Run puts through the contract.
type Implementation struct {
	// New returns an empty queue. Of the Config it must honour KeyFunc, KnownObjects and
	// Transform. Required.
	New func(deltafifo.Config[*Object]) Queue
	// Lacks names the capabilities that it does not have, each with the reason. Default: nil, it
	// has all of them.
	Lacks map[Capability]string
}

// Capability is something that this project's DeltaFIFO does and another may not.
type Capability string

const (
	// Accumulation: the deltas of a key come out together, in the place of the first of them. Without
	// it each delta comes out by itself, in order of arrival.
	Accumulation Capability = "Accumulation"
	// KnowsWhatWaits: without KnownObjects, a key that waits is known: a list without it implies its
	// deletion, and the deletion of any other key is ignored.
	KnowsWhatWaits Capability = "KnowsWhatWaits"
	// Requeue: an *ErrRequeue from process puts the deltas back.
	Requeue Capability = "Requeue"
	// RequeueStaysInitial: HasSynced waits for an initial item that was put back.
	RequeueStaysInitial Capability = "RequeueStaysInitial"
	// SyncedAfterProcessing: HasSynced turns true when the last initial item has been processed,
	// not when its processing begins.
	SyncedAfterProcessing Capability = "SyncedAfterProcessing"
	// FreeProducers: Add, Update, Delete, Replace and Resync do not wait for a process function.
	FreeProducers Capability = "FreeProducers"
	// RefusesAfterClose: from Close on nothing comes in any more; callers get ErrFIFOClosed.
	RefusesAfterClose Capability = "RefusesAfterClose"
	// AtomicReplace: a Replace that fails has queued nothing.
	AtomicReplace Capability = "AtomicReplace"
	// FailedAddIsNoPopulation: an Add that fails does not count as the first thing that came in.
	FailedAddIsNoPopulation Capability = "FailedAddIsNoPopulation"
	// TransformErrors: an object that Transform refuses is reported as a *TransformError that
	// names the key and keeps the cause.
	TransformErrors Capability = "TransformErrors"
	// Looking: the queue has the methods Len and Snapshot of deltafifo.Interface and calls the hooks
	// of Config.Trace.
	Looking Capability = "Looking"
)

// Capabilities are all of them.
var Capabilities = []Capability{
	Accumulation, KnowsWhatWaits, Requeue, RequeueStaysInitial, SyncedAfterProcessing, FreeProducers,
	RefusesAfterClose, AtomicReplace, FailedAddIsNoPopulation, TransformErrors, Looking,
}

// has reports whether the implementation has the capability, and notes in the test's output why
// not.
func (i Implementation) has(t *testing.T, c Capability) bool {
	t.Helper()
	reason, lacks := i.Lacks[c]
	if lacks {
		t.Logf("without %s: %s", c, reason)
	}
	return !lacks
}
