package fast

// maxBatch bounds how long a batch holds the lock.
const maxBatch = 128

// AddAll is Add of each of the keys, in this order, for bulk work such as the answer
// to a list. It locks once per batch of a hundred keys, so in a storm of producers and
// workers the processors are busy with keys, and not with contention for the lock.
func (q *Queue[K]) AddAll(keys []K) {
	if q.trace != nil {
		for _, key := range keys {
			q.Add(key) // the hooks are called for each key, in between and without the lock
		}
		return
	}
	for len(keys) > 0 {
		n := min(len(keys), maxBatch)
		q.addBatch(keys[:n])
		keys = keys[n:]
	}
}

func (q *Queue[K]) addBatch(keys []K) {
	var hashes [maxBatch]uint32
	for i, key := range keys {
		hashes[i] = q.records.Hash(key)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, key := range keys {
		q.addLocked(key, hashes[i])
	}
}

// GetBatch is Get for a worker that needs less than a microsecond for a key. It blocks
// until a key waits, puts as many into keys as wait and fit, but never more than a
// hundred, and returns how many these are. Shutdown is true if the queue is shut down
// and nothing waits. Each key must be given back with Done or DoneAll. It panics if
// keys is empty.
//
// What a worker holds waits for this worker, even if the others have nothing to do; so
// a batch is for backlogs of quick work, and should be small. With 16 keys most of the
// gain is there.
func (q *Queue[K]) GetBatch(keys []K) (n int, shutdown bool) {
	if q.trace != nil {
		keys[0], shutdown = q.Get()
		return 1, shutdown
	}
	keys = keys[:min(len(keys), maxBatch)]
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.waitLocked() {
		return 0, true
	}
	keys[0], _, _ = q.takeLocked()
	for n = 1; n < len(keys) && q.fifo.Len() > 0; n++ {
		keys[n], _, _ = q.takeLocked()
	}
	return n, false
}

// DoneAll is Done of each of the keys.
func (q *Queue[K]) DoneAll(keys []K) {
	if q.trace != nil {
		for _, key := range keys {
			q.Done(key)
		}
		return
	}
	for len(keys) > 0 {
		n := min(len(keys), maxBatch)
		q.doneBatch(keys[:n])
		keys = keys[n:]
	}
}

func (q *Queue[K]) doneBatch(keys []K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	next := 0
	for _, key := range keys {
		q.seq++
		// GetBatch put the keys of a batch next to each other. So the place after that of
		// the key before is tried first, which saves most keys the look-up.
		place := next
		if place >= len(q.processing) || q.processing[place].key != key {
			place = q.placeLocked(key)
		}
		if place >= 0 {
			q.giveBackLocked(place)
			next = place + 1
		}
	}
}
