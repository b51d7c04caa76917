package fast

// maxBatch bounds how long a batch holds the lock.
const maxBatch = 128

// AddAll adds the keys in this order, for bulk work such as the items of a list. It locks once per
// batch of up to maxBatch keys, which reduces contention.
func (q *Queue[K]) AddAll(keys []K) {
	if q.trace != nil {
		for _, key := range keys {
			q.Add(key) // hooks run after each key, without the lock
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

// GetBatch is Get for workers that need less than a microsecond per key. It blocks until a key is
// queued, fills keys with up to maxBatch queued keys, and returns their number. Once the queue is
// shut down and empty, it returns shutdown=true. Each key must be given back with Done or DoneAll.
// GetBatch panics if keys is empty.
//
// The keys of a batch wait for this worker even if others are idle; so batches are for backlogs of
// quick work and should be small. 16 keys give most of the gain.
func (q *Queue[K]) GetBatch(keys []K) (n int, shutdown bool) {
	if q.trace != nil {
		if keys[0], shutdown = q.Get(); shutdown {
			return 0, true
		}
		return 1, false
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

// DoneAll is Done for each of the keys.
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
		// GetBatch put the keys of a batch next to each other. Trying the place after the previous
		// key first saves most look-ups.
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
