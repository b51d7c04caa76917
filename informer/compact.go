package informer

// compactor merges events that wait for a handler into fewer events with the same effect: for each object one event,
// from the state that the handler knows to the state that the store has. What a stuck handler costs is then bounded
// by the number of objects and no longer by the number of changes.
//
// A handler cannot tell a merged history from one that happened while the watch was down, which it has to bear
// anyway: states in between are skipped, a deletion and re-creation is an update, and an object that came and went
// was never there; if another one was there before, only its own deletion is told, with its final state unknown.
type compactor[T any] struct {
	events []notification[T] // the result: one entry a key, in the order of the first event of the key
	index  map[string]int    // of the entry of a key
}

// compact merges the events of the batches, which are not changed.
func compact[T any](batches [][]notification[T]) []notification[T] {
	c := compactor[T]{index: map[string]int{}}
	for _, batch := range batches {
		for i := range batch {
			c.add(&batch[i])
		}
	}
	return c.result()
}

func (c *compactor[T]) add(n *notification[T]) {
	if n.kind == eventSynced {
		c.events = append(c.events, *n) // what is before it stays before it
		return
	}
	i, known := c.index[n.key]
	if !known {
		c.index[n.key] = len(c.events)
		c.events = append(c.events, *n)
		return
	}
	c.events[i] = merge(&c.events[i], n)
}

// nothingHappened marks an entry whose object came and went.
const nothingHappened EventKind = 0

// merge returns the event with the effect of a and then b, which are of the same object. Its old state, in a
// deletion as well, is the one that the handler was told of before a.
func merge[T any](a, b *notification[T]) notification[T] {
	out := *b
	out.old, out.initial, out.sync = a.old, a.initial, a.sync && b.sync
	existed := a.kind == EventUpdate || a.kind == EventDelete
	exists := b.kind != EventDelete
	switch {
	case existed && exists:
		out.kind = EventUpdate
	case existed:
		out.kind = EventDelete
		if isAnother(a.old, b.obj) {
			// What has gone is an object that came after the one that the handler was told of, and never was there for it.
			// What it has to be told is the end of its own one, which it may have kept something for by UID.
			out.obj, out.finalStateUnknown = a.old, true
		}
	case exists:
		out.kind = EventAdd
	default:
		out.kind = nothingHappened
	}
	return out
}

// isAnother tells whether two states under one key are of different objects. Objects without a UID are taken for the
// same: there is nothing to tell them apart by.
func isAnother[T any](told, gone T) bool {
	type identified interface{ GetUID() string }
	x, known := any(told).(identified)
	if !known {
		return false
	}
	y := any(gone).(identified)
	return x.GetUID() != y.GetUID()
}

func (c *compactor[T]) result() []notification[T] {
	kept := c.events[:0]
	for i := range c.events {
		if c.events[i].kind != nothingHappened {
			kept = append(kept, c.events[i])
		}
	}
	clear(c.events[len(kept):])
	return kept
}
