package deltafifotest

import "orrery/deltafifo"

// Queue is a deltafifo.Interface without Len and Snapshot, see [Looking].
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

// Implementation is what Run tests.
type Implementation struct {
	// New returns a new queue. It must use the Config's KeyFunc, KnownObjects and Transform.
	// Required.
	New func(deltafifo.Config[*Object]) Queue
	// Lacks names the capabilities that the implementation lacks, with the reasons. Default: none.
	Lacks map[Capability]string
}

// Capability names something that this project's DeltaFIFO does and another may not.
type Capability string

const (
	// Accumulation: the deltas of a key are handed out together, in the place of the first of them.
	// Without it, deltas are handed out one by one in order of arrival.
	Accumulation Capability = "Accumulation"
	// KnowsWhatWaits: without KnownObjects, a waiting key is known: a list without it implies its
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
	// RefusesAfterClose: after Close, callers get ErrFIFOClosed.
	RefusesAfterClose Capability = "RefusesAfterClose"
	// SkipsRefused: an object of a list without a key, or that Transform refuses, costs only itself,
	// and a deletion is queued although Transform refuses its object.
	SkipsRefused Capability = "SkipsRefused"
	// FailedAddIsNoPopulation: an Add that fails does not count as the first call.
	FailedAddIsNoPopulation Capability = "FailedAddIsNoPopulation"
	// TransformErrors: if Transform refuses an object, the caller gets a *TransformError with the
	// key and the cause.
	TransformErrors Capability = "TransformErrors"
	// Looking: the queue has the methods Len and Snapshot of deltafifo.Interface and calls the
	// hooks of Config.Trace.
	Looking Capability = "Looking"
)

// Capabilities lists all capabilities.
var Capabilities = []Capability{
	Accumulation, KnowsWhatWaits, Requeue, RequeueStaysInitial, SyncedAfterProcessing, FreeProducers,
	RefusesAfterClose, SkipsRefused, FailedAddIsNoPopulation, TransformErrors, Looking,
}

// has reports whether the implementation has the capability.
func (i Implementation) has(c Capability) bool {
	_, lacks := i.Lacks[c]
	return !lacks
}
