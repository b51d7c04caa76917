package fifobench

import (
	"errors"

	"orrery/deltafifo"
	"orrery/deltafifo/fast"
	"orrery/deltafifo/inorder"
	"orrery/indexer"
	faststore "orrery/indexer/fast"
	"orrery/informer"
	"orrery/internal/lab/bench/load"
	"orrery/restclient/api"
)

type object = *api.PartialObjectMetadata

// Fast returns package deltafifo/fast in front of package indexer/fast.
func Fast() Subject {
	return Of(gear("fast", func(cfg deltafifo.Config[object]) deltafifo.Interface[object] { return fast.New(cfg) }))
}

// Textbook returns package deltafifo in front of the same store: one lock, held for everything.
func Textbook() Subject {
	return Of(gear("textbook", func(cfg deltafifo.Config[object]) deltafifo.Interface[object] { return deltafifo.New(cfg) }))
}

// InOrder returns package deltafifo/inorder in front of the same store: every event separately, in
// order of arrival.
func InOrder() Subject {
	g := gear("inorder", func(cfg deltafifo.Config[object]) deltafifo.Interface[object] { return inorder.New(cfg) })
	g.NoRelist = true
	return Of(g)
}

func gear(name string, newQueue func(deltafifo.Config[object]) deltafifo.Interface[object]) Gear[object] {
	return Gear[object]{
		Name:      name,
		NewObject: load.Pod.Metadata,
		Number:    func(obj object) int64 { return obj.Generation },
		NewQueue: func(known []object) (Queue[object], error) {
			store := faststore.New(indexer.Config[object]{
				KeyFunc:  informer.MetaNamespaceKeyFunc[object],
				Indexers: indexer.Indexers[object]{informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[object]},
			})
			cfg := deltafifo.Config[object]{KeyFunc: informer.MetaNamespaceKeyFunc[object], KnownObjects: store}
			return queue{newQueue(cfg)}, store.Replace(known, "1")
		},
	}
}

type queue struct{ deltafifo.Interface[object] }

// batch is the most keys that the consumer takes at once from a queue with PopBatch.
const batch = 64

func (q queue) Popper(see func(obj object, deleted bool)) (pop func() error) {
	process := func(_ string, d deltafifo.Deltas[object], _ bool) error {
		for i := range d {
			see(d[i].Object, d[i].Type == deltafifo.Deleted)
		}
		return nil
	}
	take := func() error {
		_, err := q.Pop(process)
		return err
	}
	if batches, ok := q.Interface.(interface {
		PopBatch(limit int, process func(key string, d deltafifo.Deltas[object], isInInitialList bool) error) (keys int, err error)
	}); ok {
		take = func() error {
			_, err := batches.PopBatch(batch, process)
			return err
		}
	}
	return func() error {
		err := take()
		if errors.Is(err, deltafifo.ErrFIFOClosed) {
			return ErrClosed
		}
		return err
	}
}
