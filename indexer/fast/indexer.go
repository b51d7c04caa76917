package fast

import (
	"sync"
	"sync/atomic"

	"orrery/indexer"
)

// Indexer is the fast form of [indexer.Interface], which documents the methods.
//
// Readers do not block writers: List, ByIndex and similar methods hold the lock only while they
// take a snapshot, which is a few loads and stores regardless of the number of objects, and copy
// afterwards. GetByKey and Len take no lock.
type Indexer[T any] struct {
	config indexer.Config[T] // set once

	// contents is replaced with mu held. GetByKey and Len read it, and its table, without mu.
	contents atomic.Pointer[contents[T]]

	mu sync.Mutex // guards contents and everything below it
}

var _ indexer.Interface[int] = (*Indexer[int])(nil)

// New returns an empty store. It panics without a KeyFunc.
func New[T any](config indexer.Config[T]) *Indexer[T] {
	if config.KeyFunc == nil {
		panic("fast.New: Config.KeyFunc is required")
	}
	x := &Indexer[T]{config: config}
	x.config.Indexers = nil // the indexes hold the functions
	x.contents.Store(newContents(config.Indexers, 0))
	return x
}

func (x *Indexer[T]) Add(obj T) error {
	key, err := x.config.Key(obj)
	if err != nil {
		return err
	}
	_, _, err = x.Put(key, obj)
	return err
}

func (x *Indexer[T]) Update(obj T) error { return x.Add(obj) }

func (x *Indexer[T]) Put(key string, obj T) (old T, existed bool, err error) {
	var room [4][]string // more indexes cost an allocation
	c := x.contents.Load()
	values, errs := c.values(key, obj, room[:0], nil)

	x.mu.Lock()
	for {
		current := x.contents.Load()
		if current == c || sameIndexes(current, c) {
			old, existed = current.put(key, obj, values)
			break
		}
		x.mu.Unlock() // AddIndexers ran in between; index functions run without the lock
		c = current
		values, errs = c.values(key, obj, room[:0], nil)
		x.mu.Lock()
	}
	x.mu.Unlock()
	x.config.Trace.ReportStored(key, existed)
	return old, existed, x.config.Trace.ReportFailed(errs)
}

func (x *Indexer[T]) Delete(obj T) error {
	key, err := x.config.Key(obj)
	if err != nil {
		return err
	}
	x.DeleteKey(key)
	return nil
}

func (x *Indexer[T]) DeleteKey(key string) {
	x.mu.Lock()
	existed := x.contents.Load().remove(key)
	x.mu.Unlock()
	x.config.Trace.ReportDeleted(key, existed)
}

// Replace builds the new content while readers and other writers continue; it overwrites their
// concurrent writes.
func (x *Indexer[T]) Replace(items []T, resourceVersion string) error {
	keys := make([]string, len(items))
	for i, obj := range items {
		key, err := x.config.Key(obj)
		if err != nil {
			return err
		}
		keys[i] = key
	}
	var next *contents[T]
	var errs *indexer.IndexErrors
	for installed := false; !installed; {
		c := x.contents.Load()
		next, errs = build(c.indexers(), keys, items)
		x.mu.Lock()
		if installed = sameIndexes(x.contents.Load(), c); installed {
			x.contents.Store(next)
		}
		x.mu.Unlock()
	}
	x.config.Trace.ReportReplaced(next.records.len(), resourceVersion)
	return x.config.Trace.ReportFailed(errs)
}

// build returns new contents with the items.
func build[T any](indexers indexer.Indexers[T], keys []string, items []T) (*contents[T], *indexer.IndexErrors) {
	c := newContents(indexers, len(items))
	var errs *indexer.IndexErrors
	var values [][]string
	for i, obj := range items {
		values, errs = c.values(keys[i], obj, values[:0], errs)
		c.put(keys[i], obj, values)
	}
	return c, errs
}

func (x *Indexer[T]) Resync() error { return nil }

// AddIndexers blocks writers and lists while it indexes the present objects. GetByKey does not
// wait.
func (x *Indexer[T]) AddIndexers(added indexer.Indexers[T]) error {
	errs, err := x.addIndexers(added)
	if err != nil {
		return err
	}
	return x.config.Trace.ReportFailed(errs)
}

func (x *Indexer[T]) addIndexers(added indexer.Indexers[T]) (errs *indexer.IndexErrors, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	next, taken := x.contents.Load().with(added)
	if len(taken) > 0 {
		return nil, &indexer.IndexerConflictError{Names: taken}
	}
	errs = next.fill(added.Names())
	x.contents.Store(next)
	return errs, nil
}

func (x *Indexer[T]) GetByKey(key string) (obj T, exists bool) {
	records := x.contents.Load().records
	rec := find(records, records.hash(key), key)
	if rec == nil {
		return obj, false
	}
	return rec.obj.load(), true
}
