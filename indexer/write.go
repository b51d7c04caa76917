package indexer

// Add stores obj in the place of the object with the same key, if there is
// one, and brings all indexes up to date.
//
// The error is a [*KeyError] if the object has no key; then nothing has
// changed. It is an [*IndexError], or [*IndexErrors], if index functions
// failed or panicked; then the object is stored and in all other indexes.
func (x *Indexer[T]) Add(obj T) error {
	key, err := x.key(obj)
	if err != nil {
		return err
	}
	_, _, err = x.Put(key, obj)
	return err
}

// Update is Add. The two names are those of the events that lead to the call.
func (x *Indexer[T]) Update(obj T) error { return x.Add(obj) }

// Put is Add for callers that know the key already, such as the consumer of a
// queue that hands it out: the key function is not called. It returns the
// object that had the key before, and whether there was one, which spares a
// GetByKey and cannot be overtaken by another writer.
//
// key must be what the key function would answer for obj. The error is that of
// Add, except that it is never a [*KeyError].
func (x *Indexer[T]) Put(key string, obj T) (old T, existed bool, err error) {
	// A store with more indexes pays for one small slice.
	var room [4][]string
	old, existed, errs := x.put(key, obj, room[:0])
	x.config.Trace.stored(key, existed)
	x.config.Trace.indexFailed(errs)
	return old, existed, errs.orNil()
}

// put does what takes time before it takes the lock: it asks the memory for the
// record, and meanwhile the users' code for the index values.
func (x *Indexer[T]) put(key string, obj T, room [][]string) (old T, existed bool, errs *IndexErrors) {
	before := x.generation.Load()
	var l lookup[T]
	l.begin(before, key)
	values, errs := before.definitions.compute(key, obj, room, nil)
	version := x.versionOf(obj)

	x.mu.Lock()
	defer x.mu.Unlock()
	g := x.generation.Load()
	if g != before {
		l.begin(g, key)
	}
	if g.definitions != before.definitions {
		// Somebody has added an index in the meantime.
		values, errs = g.definitions.compute(key, obj, nil, nil)
	}
	g.renew(&l)
	x.setVersionLocked(version)
	g.gate.enter()
	defer g.gate.leave()
	old, existed = g.put(&l, obj, values)
	return old, existed, errs
}

// Delete removes the object with the key of obj; if there is none that is
// fine. The error is a [*KeyError].
func (x *Indexer[T]) Delete(obj T) error {
	key, err := x.key(obj)
	if err != nil {
		return err
	}
	x.remove(key, x.versionOf(obj))
	return nil
}

// DeleteKey removes the object of key; if there is none that is fine.
func (x *Indexer[T]) DeleteKey(key string) { x.remove(key, nil) }

func (x *Indexer[T]) remove(key string, version *string) {
	if x.removeRecord(key, version) {
		x.config.Trace.deleted(key)
	}
}

func (x *Indexer[T]) removeRecord(key string, version *string) (deleted bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.setVersionLocked(version)
	g := x.generation.Load()
	g.gate.enter()
	defer g.gate.leave()
	return g.remove(key)
}

// Resync does nothing and is here because a store between a Reflector and its
// handlers may have something to do: see deltafifo.
func (x *Indexer[T]) Resync() error { return nil }
