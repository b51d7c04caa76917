package indexer

import (
	"maps"
	"runtime/debug"
	"slices"
)

// IndexFunc computes the values under which an object is found in one index: a
// pod's node, an object's owners, its namespace. It may return none, and
// repeated ones count once. It must depend on nothing but the object, must not
// change it, and must not write to the store.
type IndexFunc[T any] func(obj T) ([]string, error)

// Indexers maps the name of an index to the function that computes its values.
type Indexers[T any] map[string]IndexFunc[T]

// definitions are the index functions of a store at one time, sorted by name.
// They never change; AddIndexers makes new ones. So a pointer to them tells
// whether values that were computed outside of the lock are still complete.
type definitions[T any] struct {
	names []string
	funcs []IndexFunc[T]
}

func newDefinitions[T any](indexers Indexers[T]) *definitions[T] {
	d := &definitions[T]{names: slices.Sorted(maps.Keys(indexers))}
	for _, name := range d.names {
		d.funcs = append(d.funcs, indexers[name])
	}
	return d
}

// all returns the definitions as a map that the caller owns.
func (d *definitions[T]) all() Indexers[T] {
	indexers := make(Indexers[T], len(d.names))
	for i, name := range d.names {
		indexers[name] = d.funcs[i]
	}
	return indexers
}

// compute asks all functions. The answers are in the order of the names; where
// a function fails, the answer is "no values" and the error is added to errs.
// answers is room for them, so that few indexes need no allocation.
func (d *definitions[T]) compute(key string, obj T, answers [][]string, errs *IndexErrors) ([][]string, *IndexErrors) {
	for i, f := range d.funcs {
		values, err := callIndexFunc(f, obj)
		if err != nil {
			errs = errs.add(&IndexError{Index: d.names[i], Key: key, Err: err})
			values = nil
		}
		answers = append(answers, values)
	}
	return answers, errs
}

// callIndexFunc turns a panic into an error. The function belongs to a user
// and the goroutine to somebody else, usually the informer's; a panic there
// would stop all events for everybody.
func callIndexFunc[T any](f IndexFunc[T], obj T) (values []string, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return f(obj)
}
