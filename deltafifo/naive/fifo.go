package naive

import (
	"errors"
	"slices"
	"sync"

	"orrery/deltafifo"
)

// FIFO is a DeltaFIFO with one lock that it holds for everything, the process function
// included, as the original does. Nothing can change while something is processed, so the store
// is always right and no case needs thought; the price is that whoever puts something in waits
// for whoever takes something out, that process cannot call the queue, and that a list of 100,000
// objects stops everybody. Read it first, then package deltafifo.
type FIFO[T any] struct {
	cfg deltafifo.Config[T]

	mu      sync.Mutex
	changed sync.Cond

	// items holds the deltas of each waiting key, and queue the keys in order of their first
	// delta: a key is in both or in neither.
	items map[string]deltafifo.Deltas[T]
	queue []string

	populated bool
	// initial holds the keys of the initial population that were not processed yet.
	initial map[string]bool
	synced  chan struct{}
	closed  bool
}

// New returns an empty queue. Config.Trace is not used.
func New[T any](cfg deltafifo.Config[T]) *FIFO[T] {
	n := &FIFO[T]{
		cfg:     cfg,
		items:   make(map[string]deltafifo.Deltas[T]),
		initial: make(map[string]bool),
		synced:  make(chan struct{}),
	}
	n.changed.L = &n.mu
	return n
}

// Add queues that obj exists.
func (n *FIFO[T]) Add(obj T) error { return n.enqueue(deltafifo.Added, obj) }

// Update queues that obj changed.
func (n *FIFO[T]) Update(obj T) error { return n.enqueue(deltafifo.Updated, obj) }

// Delete queues that obj is gone, if anybody knows it.
func (n *FIFO[T]) Delete(obj T) error { return n.enqueue(deltafifo.Deleted, obj) }

func (n *FIFO[T]) enqueue(typ deltafifo.DeltaType, obj T) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	key, obj, err := n.admit(obj)
	if err != nil {
		return err
	}
	if n.closed {
		return deltafifo.ErrFIFOClosed
	}
	n.populated = true
	n.checkSyncedLocked()
	if typ == deltafifo.Deleted && len(n.items[key]) == 0 && !n.known(key) {
		return nil
	}
	n.pushLocked(key, deltafifo.Delta[T]{Type: typ, Object: obj})
	return nil
}

func (n *FIFO[T]) admit(obj T) (string, T, error) {
	key, err := n.cfg.KeyFunc(obj)
	if err != nil {
		return "", obj, &deltafifo.KeyError{Obj: obj, Err: err}
	}
	if n.cfg.Transform != nil {
		if obj, err = n.cfg.Transform(obj); err != nil {
			return "", obj, &deltafifo.TransformError{Key: key, Err: err}
		}
	}
	return key, obj, nil
}

func (n *FIFO[T]) known(key string) bool {
	if n.cfg.KnownObjects == nil {
		return false
	}
	_, exists := n.cfg.KnownObjects.GetByKey(key)
	return exists
}

func (n *FIFO[T]) pushLocked(key string, d deltafifo.Delta[T]) {
	deltas, waits := n.items[key]
	if !waits {
		n.queue = append(n.queue, key)
	}
	last := len(deltas) - 1
	switch {
	case last < 0 || deltas[last].Type != deltafifo.Deleted || d.Type != deltafifo.Deleted:
		deltas = append(deltas, d)
	case deltas[last].Tombstone != nil:
		deltas[last] = d
	}
	n.items[key] = deltas
	n.changed.Broadcast()
}

func (n *FIFO[T]) buryLocked(key string, lastSeen T) {
	n.pushLocked(key, deltafifo.Delta[T]{
		Type:      deltafifo.Deleted,
		Object:    lastSeen,
		Tombstone: &deltafifo.DeletedFinalStateUnknown[T]{Key: key, Obj: lastSeen},
	})
}

// Replace queues the items and buries everything else that waits or is known.
func (n *FIFO[T]) Replace(items []T, _ string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	keys := make([]string, len(items))
	objects := make([]T, len(items))
	listed := make(map[string]bool)
	for i, item := range items {
		var err error
		if keys[i], objects[i], err = n.admit(item); err != nil {
			return err
		}
		listed[keys[i]] = true
	}
	if n.closed {
		return deltafifo.ErrFIFOClosed
	}
	for i, key := range keys {
		n.pushLocked(key, deltafifo.Delta[T]{Type: deltafifo.Replaced, Object: objects[i]})
	}
	for _, key := range n.queue {
		if newest, _ := n.items[key].Newest(); !listed[key] {
			n.buryLocked(key, newest.Object)
		}
	}
	if n.cfg.KnownObjects != nil {
		for _, key := range n.cfg.KnownObjects.ListKeys() {
			if _, waits := n.items[key]; !waits && !listed[key] {
				lastSeen, _ := n.cfg.KnownObjects.GetByKey(key)
				n.buryLocked(key, lastSeen)
			}
		}
	}
	if !n.populated {
		n.populated = true
		for _, key := range n.queue {
			n.initial[key] = true
		}
	}
	n.checkSyncedLocked()
	return nil
}

// Resync queues a Sync for each known key that does not wait.
func (n *FIFO[T]) Resync() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return deltafifo.ErrFIFOClosed
	}
	if n.cfg.KnownObjects == nil {
		return nil
	}
	for _, key := range n.cfg.KnownObjects.ListKeys() {
		obj, exists := n.cfg.KnownObjects.GetByKey(key)
		if _, waits := n.items[key]; exists && !waits {
			n.pushLocked(key, deltafifo.Delta[T]{Type: deltafifo.Sync, Object: obj})
		}
	}
	return nil
}

// Pop hands out the deltas of the key that has waited longest.
func (n *FIFO[T]) Pop(process func(string, deltafifo.Deltas[T], bool) error) (deltafifo.Deltas[T], error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.queue) == 0 {
		if n.closed {
			return nil, deltafifo.ErrFIFOClosed
		}
		n.changed.Wait()
	}
	key := n.queue[0]
	n.queue = n.queue[1:]
	deltas := n.items[key]
	delete(n.items, key)

	again := false
	defer func() {
		if !again {
			delete(n.initial, key)
			n.checkSyncedLocked()
		}
	}()
	err := process(key, deltas, n.initial[key])
	var requeue *deltafifo.ErrRequeue
	if requeue, again = errors.AsType[*deltafifo.ErrRequeue](err); again && !n.closed {
		n.items[key] = deltas
		n.queue = append(n.queue, key)
		err = requeue.Err
	}
	return deltas, err
}

func (n *FIFO[T]) checkSyncedLocked() {
	if n.populated && len(n.initial) == 0 && !n.HasSynced() {
		close(n.synced)
	}
}

// HasSynced reports whether the initial population has been processed.
func (n *FIFO[T]) HasSynced() bool {
	select {
	case <-n.synced:
		return true
	default:
		return false
	}
}

// Synced returns a channel that is closed when HasSynced becomes true.
func (n *FIFO[T]) Synced() <-chan struct{} { return n.synced }

// Close lets the queue run dry.
func (n *FIFO[T]) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	n.changed.Broadcast()
}

// IsClosed reports whether Close was called.
func (n *FIFO[T]) IsClosed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closed
}

// Snapshot returns the present state.
func (n *FIFO[T]) Snapshot() deltafifo.Snapshot {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := deltafifo.Snapshot{
		Waiting:     []deltafifo.KeySnapshot{},
		InitialLeft: len(n.initial),
		Synced:      n.HasSynced(),
		Closed:      n.closed,
	}
	for _, key := range n.queue {
		s.Waiting = append(s.Waiting, deltafifo.KeySnapshot{
			Key: key, Types: n.items[key].Types(), IsInInitialList: n.initial[key],
		})
	}
	return s
}

// Prefer makes a waiting key the next one. A test that compares two queues uses it where the
// order between keys may differ and what is told about each may not.
func (n *FIFO[T]) Prefer(key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i := slices.Index(n.queue, key); i > 0 {
		n.queue = slices.Insert(slices.Delete(n.queue, i, i+1), 0, key)
	}
}
