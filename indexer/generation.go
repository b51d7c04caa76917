package indexer

// generation is everything that the store holds, between one Replace or
// AddIndexers and the next. Its fields never change; what they point to does.
// Replace builds a new one beside the old and puts it in place with one
// pointer; readers that have begun on the old one finish there.
type generation[T any] struct {
	definitions *definitions[T]
	gate        *gate
	records     *table[record[T]] // by key
	objects     *list[T, *record[T]]
	indexes     []*index[T] // in the order of the definitions
}

// newGeneration returns an empty one that takes n objects without growing.
func newGeneration[T any](d *definitions[T], n int) *generation[T] {
	g := &generation[T]{definitions: d, gate: &gate{}, records: newTable(n, recordIdentity[T])}
	g.objects = newList[T, *record[T]](g.gate)
	for _, name := range d.names {
		g.indexes = append(g.indexes, newIndex[T](name, g.gate))
	}
	return g
}

// index returns the index of that name, or nil. There are a handful at most.
func (g *generation[T]) index(name string) *index[T] {
	for _, ix := range g.indexes {
		if ix.name == name {
			return ix
		}
	}
	return nil
}

// put stores obj under the key of l, which is still true, with the values of
// each index. It returns the object that was there before, if there was one.
// Writer only, within the gate.
func (g *generation[T]) put(l *lookup[T], obj T, values [][]string) (old T, existed bool) {
	rec := l.rec
	if rec != nil {
		g.objects.set(rec.home, obj)
	} else {
		rec = newRecord[T](l.id)
		rec.home = g.objects.insert(obj, rec)
	}
	for i, ix := range g.indexes {
		ix.update(rec, values[i], obj)
	}
	// Point reads learn of it last: see record.obj.
	old, existed = rec.obj.swap(obj)
	if !existed {
		g.records.insert(rec)
	}
	return old, existed
}

// remove takes key out. It reports whether the key was there. Writer only,
// within the gate.
func (g *generation[T]) remove(key string) bool {
	rec := g.find(key)
	if rec == nil {
		return false
	}
	if moved, ok := g.objects.remove(rec.home); ok {
		moved.home = rec.home
	}
	for _, p := range rec.places {
		p.bucket.index.take(p)
	}
	g.records.remove(rec) // last, as in put
	return true
}

// lookup is what a writer has found out about a key before its turn came. What
// it looks at is rarely in the processor's caches; so it looks early, and goes
// on with other things while the memory answers.
type lookup[T any] struct {
	id     identity
	rec    *record[T] // nil if there is none
	number uint64     // of the gate, before
}

// begin looks for key. Any goroutine may call it.
func (l *lookup[T]) begin(g *generation[T], key string) {
	g.records.identifyAs(&l.id, key)
	l.number = g.gate.number.Load()
	l.rec = g.records.find(&l.id)
}

// renew makes l true if a write has come in between. Writer only, before it
// enters the gate.
func (g *generation[T]) renew(l *lookup[T]) {
	if !g.gate.unmoved(l.number) {
		l.rec = g.records.find(&l.id)
	}
}

// find returns the record of key, or nil. Any goroutine may call it.
func (g *generation[T]) find(key string) *record[T] {
	id := g.records.identify(key)
	return g.records.find(&id)
}
