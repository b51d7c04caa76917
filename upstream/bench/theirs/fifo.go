package main

import (
	"errors"

	"k8s.io/client-go/tools/cache"

	"orrery/deltafifo"
	"orrery/internal/lab/bench/workloads"
)

// FIFO is client-go's DeltaFIFO with client-go's store.
func FIFO() workloads.FIFOGear[object] {
	return workloads.FIFOGear[object]{
		Subject: "client-go", Objects: objects,
		NewQueue: func(known []object) (workloads.FIFO[object], error) {
			store := newIndexer()
			return deltaFIFO{cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
				KnownObjects:          store,
				EmitDeltaTypeReplaced: true, // as the informer does
			})}, store.Replace(boxed(known), "1")
		},
	}
}

type deltaFIFO struct{ *cache.DeltaFIFO }

func (f deltaFIFO) Add(obj object) error { return f.DeltaFIFO.Add(obj) }

func (f deltaFIFO) Replace(objects []object, resourceVersion string) error {
	return f.DeltaFIFO.Replace(boxed(objects), resourceVersion)
}

func (f deltaFIFO) Popper(see func(obj object, deleted bool)) (pop func() error) {
	process := func(popped any, _ bool) error {
		for _, d := range popped.(cache.Deltas) {
			seeDelta(d, see)
		}
		return nil
	}
	return func() error {
		_, err := f.Pop(process)
		return closed(err)
	}
}

// RealFIFO is the default queue of client-go's informers: in order, without merging, consumed in
// batches. A list is one item, which the consumer compares with the store.
func RealFIFO() workloads.FIFOGear[object] {
	return workloads.FIFOGear[object]{
		Subject: "client-go RealFIFO", Objects: objects, NoRelist: true,
		NewQueue: func([]object) (workloads.FIFO[object], error) {
			return realFIFO{cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
				KeyFunction: cache.MetaNamespaceKeyFunc,
				// The defaults of an informer.
				AtomicEvents:          true,
				UnlockWhileProcessing: true,
				EmitDeltaTypeBookmark: true,
			})}, nil
		},
	}
}

type realFIFO struct{ *cache.RealFIFO }

func (f realFIFO) Add(obj object) error { return f.RealFIFO.Add(obj) }

func (f realFIFO) Replace(objects []object, resourceVersion string) error {
	return f.RealFIFO.Replace(boxed(objects), resourceVersion)
}

func (f realFIFO) Popper(see func(obj object, deleted bool)) (pop func() error) {
	batch := func(batch []cache.Delta, _ bool) error {
		for _, d := range batch {
			seeDelta(d, see)
		}
		return nil
	}
	single := func(popped any, _ bool) error {
		for _, d := range popped.(cache.Deltas) {
			seeDelta(d, see)
		}
		return nil
	}
	return func() error { return closed(f.PopBatch(batch, single)) }
}

// seeDelta passes the object of a delta to see.
func seeDelta(d cache.Delta, see func(obj object, deleted bool)) {
	content := d.Object
	if tombstone, ok := content.(cache.DeletedFinalStateUnknown); ok {
		content = tombstone.Obj
	}
	see(content.(object), d.Type == cache.Deleted)
}

func closed(err error) error {
	if errors.Is(err, cache.ErrFIFOClosed) {
		return deltafifo.ErrFIFOClosed
	}
	return err
}
