package queue

// A record that has nothing left to remember stays in the table for a while: it
// is settled. A controller has the same objects today as yesterday, so the next
// Add of the key finds its record, where otherwise each key would have to be taken
// out of the table and put in again on its way through the queue, at the price of a
// cache miss each if there are many.
//
// Settled records are swept out together: when the table would have to grow and a
// quarter of it is settled, and when seven of eight are, so that memory comes back
// after a storm. Either way as many have settled since the last sweep, so it costs a
// constant time for each.

// keepSettled is how many settled records, and so keys, a queue may keep for as
// long as it is not shut down.
const keepSettled = 4096

// obtainLocked returns the record of key, which the caller is about to give
// something to remember unless it has.
func (q *Queue[K]) obtainLocked(key K, hash uint32) (ref uint32, r *record[K]) {
	place, ref, r := q.records.find(key, hash)
	switch {
	case r == nil:
		return q.recordLocked(place, key, hash)
	case r.value.settled():
		q.settled--
	}
	return ref, r
}

// recordLocked makes the record of key, whose slot find has returned.
func (q *Queue[K]) recordLocked(place uint32, key K, hash uint32) (ref uint32, r *record[K]) {
	if q.records.full() && q.settled > max(keepSettled, q.records.live/4) {
		q.sweepLocked()
		place, _, _ = q.records.find(key, hash)
	}
	return q.records.insert(place, key, hash)
}

// settleLocked notes that r has lost something; maybe it was the last.
func (q *Queue[K]) settleLocked(r *record[K]) {
	if !r.value.settled() {
		return
	}
	q.settled++
	if q.settled > q.records.live/8*7 && (q.settled > keepSettled || q.shuttingDown) {
		q.sweepLocked()
	}
}

// sweepLocked removes all settled records.
func (q *Queue[K]) sweepLocked() {
	q.records.sweep((*state).settled)
	q.settled = 0
}
