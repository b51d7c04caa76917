package indexer

import (
	"maps"
	"slices"
)

// Replace makes items the whole content of the store, at one moment for all
// readers, and resourceVersion its version. Of items with the same key the
// last one counts. The items slice itself is not kept.
//
// The error is a [*KeyError] if an item has no key; then nothing has changed.
// It is an [*IndexError] or [*IndexErrors] if index functions failed; then
// everything is stored. The new content is built while readers and other
// writers go on; a write that comes in the meantime is replaced as well.
func (x *Indexer[T]) Replace(items []T, resourceVersion string) error {
	keys := make([]string, len(items))
	for i, obj := range items {
		key, err := x.key(obj)
		if err != nil {
			return err
		}
		keys[i] = key
	}
	next, errs := build(x.generation.Load().definitions, keys, items)

	errs = x.install(next, errs, keys, items, resourceVersion)
	x.config.Trace.replaced(next.records.len(), resourceVersion)
	x.config.Trace.indexFailed(errs)
	return errs.orNil()
}

// install puts a generation in place.
func (x *Indexer[T]) install(next *generation[T], errs *IndexErrors, keys []string, items []T, resourceVersion string) *IndexErrors {
	x.mu.Lock()
	defer x.mu.Unlock()
	if d := x.generation.Load().definitions; d != next.definitions {
		// Somebody has added an index in the meantime.
		next, errs = build(d, keys, items)
	}
	x.generation.Store(next)
	x.resourceVersion.Store(&resourceVersion)
	return errs
}

// build returns a generation with the items. Nobody else knows it yet, so
// there is no reader for whom the gate would have to be used.
func build[T any](d *definitions[T], keys []string, items []T) (*generation[T], *IndexErrors) {
	g := newGeneration(d, len(items))
	var errs *IndexErrors
	var values [][]string
	for i, obj := range items {
		values, errs = d.compute(keys[i], obj, values[:0], errs)
		var l lookup[T]
		l.begin(g, keys[i])
		g.put(&l, obj, values)
	}
	return g, errs
}

// AddIndexers adds indexes, before or after there are objects; those that are
// there are indexed before it returns. Writers wait for that, readers do not.
//
// The error is an [*IndexerConflictError] if a name is taken; then nothing was
// added. It is an [*IndexError] or [*IndexErrors] if functions failed for
// objects; then the indexes are in place without these objects.
func (x *Indexer[T]) AddIndexers(added Indexers[T]) error {
	errs, err := x.addIndexers(added)
	if err != nil {
		return err
	}
	x.config.Trace.indexFailed(errs)
	return errs.orNil()
}

func (x *Indexer[T]) addIndexers(added Indexers[T]) (*IndexErrors, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	old := x.generation.Load()
	if names := conflicts(old.definitions, added); len(names) > 0 {
		return nil, &IndexerConflictError{Names: names}
	}
	all := old.definitions.all()
	maps.Copy(all, added)

	next := *old
	next.definitions = newDefinitions(all)
	next.indexes = nil
	for _, name := range next.definitions.names {
		ix := old.index(name)
		if ix == nil {
			ix = newIndex[T](name, old.gate)
		}
		next.indexes = append(next.indexes, ix)
	}
	errs := next.fill(newDefinitions(added))
	x.generation.Store(&next)
	return errs, nil
}

// conflicts returns the names that are defined already, sorted.
func conflicts[T any](d *definitions[T], added Indexers[T]) []string {
	var names []string
	for _, name := range d.names {
		if _, taken := added[name]; taken {
			names = append(names, name)
		}
	}
	return slices.Clip(names)
}

// fill brings all objects into the indexes of d, which nobody reads yet.
func (g *generation[T]) fill(d *definitions[T]) (errs *IndexErrors) {
	var values [][]string
	for rec := range g.records.entries() {
		obj := rec.obj.load()
		values, errs = d.compute(rec.key, obj, values[:0], errs)
		for i, name := range d.names {
			g.index(name).update(rec, values[i], obj)
		}
	}
	return errs
}
