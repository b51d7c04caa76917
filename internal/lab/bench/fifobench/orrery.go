package fifobench

import (
	"errors"

	"orrery/deltafifo"
	"orrery/deltafifo/naive"
	"orrery/indexer"
	"orrery/indexer/fast"
	"orrery/informer"
	"orrery/internal/lab/bench/pods"
	"orrery/restclient/api"
)

type object = *api.PartialObjectMetadata

// Orrery is package deltafifo in front of package indexer.
func Orrery() Subject {
	return ours("orrery", func(known indexer.Interface[object]) deltas {
		return deltafifo.New(deltafifo.Config[object]{KeyFunc: informer.MetaNamespaceKeyFunc[object], KnownObjects: known})
	})
}

// Naive is package deltafifo/naive in front of the same store: one lock, held for everything.
func Naive() Subject {
	return ours("naive", func(known indexer.Interface[object]) deltas {
		return single{naive.New(deltafifo.Config[object]{KeyFunc: informer.MetaNamespaceKeyFunc[object], KnownObjects: known})}
	})
}

func ours(name string, newQueue func(known indexer.Interface[object]) deltas) Subject {
	return Of(Gear[object]{
		Name:      name,
		NewObject: pods.Pod.Metadata,
		Number:    func(obj object) int64 { return obj.Generation },
		NewQueue: func(known []object) (Queue[object], error) {
			store := fast.New(indexer.Config[object]{
				KeyFunc:  informer.MetaNamespaceKeyFunc[object],
				Indexers: indexer.Indexers[object]{informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[object]},
			})
			return queue{newQueue(store)}, store.Replace(known, "1")
		},
	})
}

// deltas are what both of our queues can do.
type deltas interface {
	Add(obj object) error
	Replace(objects []object, resourceVersion string) error
	PopBatch(limit int, process func(key string, d deltafifo.Deltas[object], isInInitialList bool) error) (keys int, err error)
	Close()
}

// single is the naive queue, whose batches are of one key.
type single struct{ *naive.FIFO[object] }

func (s single) PopBatch(_ int, process func(key string, d deltafifo.Deltas[object], isInInitialList bool) error) (int, error) {
	_, err := s.Pop(process)
	return 1, err
}

type queue struct{ deltas }

// batch is how many keys the consumer takes at once, if they are there.
const batch = 64

func (q queue) Popper(see func(obj object, deleted bool)) (pop func() error) {
	process := func(_ string, d deltafifo.Deltas[object], _ bool) error {
		for i := range d {
			see(d[i].Object, d[i].Type == deltafifo.Deleted)
		}
		return nil
	}
	return func() error {
		_, err := q.PopBatch(batch, process)
		if errors.Is(err, deltafifo.ErrFIFOClosed) {
			return ErrClosed
		}
		return err
	}
}
