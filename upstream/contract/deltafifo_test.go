package contract

import (
	"errors"
	"testing"

	"k8s.io/client-go/tools/cache"

	"orrery/deltafifo"
	"orrery/deltafifo/deltafifotest"
)

// TestDeltaFIFO runs the contract of package deltafifo against client-go's DeltaFIFO.
func TestDeltaFIFO(t *testing.T) {
	deltafifotest.Run(t, deltafifotest.Implementation{
		New: newOriginalFIFO,
		Lacks: map[deltafifotest.Capability]string{
			deltafifotest.Looking: "it has no hooks, and its content cannot be read without " +
				"taking it out",
			deltafifotest.RequeueStaysInitial: "it has no requeue",
			deltafifotest.Requeue: "ErrRequeue was removed when the informers no longer used it; " +
				"an error from process loses the deltas",
			deltafifotest.SyncedAfterProcessing: "Pop counts an initial item as done before it processes it; " +
				"RealFIFO, its successor, does as we do",
			deltafifotest.FreeProducers: "the queue's lock is held while process runs " +
				"(kubernetes/kubernetes#103789)",
			deltafifotest.RefusesAfterClose:       "Close only wakes Pop; a closed queue still accepts items",
			deltafifotest.SkipsRefused:            "Replace stops at a failure; deletions are transformed, too",
			deltafifotest.FailedAddIsNoPopulation: "Add counts as the first event before it computes the key",
			deltafifotest.TransformErrors: "the error of the transform function is returned bare, and " +
				"Replace keeps only its text",
		},
	})
}

// originalFIFO adapts client-go's DeltaFIFO to the contract.
type originalFIFO struct {
	*cache.DeltaFIFO
	keyFunc func(*deltafifotest.Object) (string, error)
}

func newOriginalFIFO(cfg deltafifo.Config[*deltafifotest.Object]) deltafifotest.Queue {
	opts := cache.DeltaFIFOOptions{
		KeyFunction: func(obj any) (string, error) {
			return cfg.KeyFunc(obj.(*deltafifotest.Object))
		},
		EmitDeltaTypeReplaced: true,
	}
	if cfg.KnownObjects != nil {
		opts.KnownObjects = originalKnown{cfg.KnownObjects}
	}
	if cfg.Transform != nil {
		opts.Transformer = func(obj any) (any, error) {
			return cfg.Transform(obj.(*deltafifotest.Object))
		}
	}
	return &originalFIFO{cache.NewDeltaFIFOWithOptions(opts), cfg.KeyFunc}
}

// originalKnown adapts known objects to client-go.
type originalKnown struct {
	known deltafifo.KeyListerGetter[*deltafifotest.Object]
}

func (k originalKnown) ListKeys() []string { return k.known.ListKeys() }

func (k originalKnown) GetByKey(key string) (any, bool, error) {
	obj, exists := k.known.GetByKey(key)
	if !exists {
		return nil, false, nil
	}
	return obj, true, nil
}

func (f *originalFIFO) Add(obj *deltafifotest.Object) error { return ourError(f.DeltaFIFO.Add(obj)) }
func (f *originalFIFO) Update(obj *deltafifotest.Object) error {
	return ourError(f.DeltaFIFO.Update(obj))
}
func (f *originalFIFO) Delete(obj *deltafifotest.Object) error {
	return ourError(f.DeltaFIFO.Delete(obj))
}

func (f *originalFIFO) Replace(items []*deltafifotest.Object, resourceVersion string) error {
	list := make([]any, len(items))
	for i, item := range items {
		list[i] = item
	}
	return ourError(f.DeltaFIFO.Replace(list, resourceVersion))
}

func (f *originalFIFO) Pop(process func(string, deltafifo.Deltas[*deltafifotest.Object],
	bool) error) (deltafifo.Deltas[*deltafifotest.Object], error) {
	popped, err := f.DeltaFIFO.Pop(func(obj any, isInInitialList bool) error {
		key, err := f.KeyOf(obj)
		if err != nil {
			return err
		}
		return process(key, ourDeltas(obj.(cache.Deltas)), isInInitialList)
	})
	if popped == nil {
		return nil, ourError(err)
	}
	return ourDeltas(popped.(cache.Deltas)), ourError(err)
}

func (f *originalFIFO) Synced() <-chan struct{} { return f.HasSyncedChecker().Done() }

// ourDeltas translates deltas. In the original a tombstone is an object of a type of its own.
func ourDeltas(original cache.Deltas) deltafifo.Deltas[*deltafifotest.Object] {
	deltas := make(deltafifo.Deltas[*deltafifotest.Object], len(original))
	for i, d := range original {
		deltas[i].Type = deltafifo.DeltaType(d.Type)
		if tombstone, ok := d.Object.(cache.DeletedFinalStateUnknown); ok {
			lastSeen, _ := tombstone.Obj.(*deltafifotest.Object)
			deltas[i].Object = lastSeen
			deltas[i].Tombstone = &deltafifo.DeletedFinalStateUnknown[*deltafifotest.Object]{Key: tombstone.Key,
				Obj: lastSeen}
			continue
		}
		deltas[i].Object = d.Object.(*deltafifotest.Object)
	}
	return deltas
}

// ourError translates the errors for which the two have different types.
func ourError(err error) error {
	if errors.Is(err, cache.ErrFIFOClosed) {
		return deltafifo.ErrFIFOClosed
	}
	if keyError, ok := errors.AsType[cache.KeyError](err); ok {
		return &deltafifo.KeyError{Obj: keyError.Obj, Err: keyError.Err}
	}
	return err
}
