package deltafifotest

import (
	"testing"

	"orrery/deltafifo"
)

// Queue is what the contract speaks of. *deltafifo.DeltaFIFO[*Object] and *Naive are Queues.
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
	IsClosed() bool
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
	// Requeue: an *ErrRequeue from process puts the deltas back.
	Requeue Capability = "Requeue"
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
)

// Capabilities are all of them.
var Capabilities = []Capability{
	Requeue, SyncedAfterProcessing, FreeProducers, RefusesAfterClose,
	AtomicReplace, FailedAddIsNoPopulation, TransformErrors,
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
