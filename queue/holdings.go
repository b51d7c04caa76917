package queue

// fewHoldings is up to how many keys are looked through one by one. They are
// next to each other in memory, so that takes less time than a hash.
const fewHoldings = 8

// holdingLocked returns the place in processing of a key that a worker holds, or
// -1. Done knows the key only, but a program with few workers holds few keys, so
// nearly every Done gets by without the table.
func (q *Queue[K]) holdingLocked(key K) int {
	if n := len(q.processing); n <= fewHoldings {
		for n--; n >= 0 && q.processing[n].key != key; n-- {
		}
		return n
	}
	_, _, r := q.records.find(key, q.records.hash(key))
	if r == nil {
		return -1
	}
	return int(r.value.processingPlace) - 1
}

// releaseLocked takes a key out of processing; the last one fills the gap.
func (q *Queue[K]) releaseLocked(place int) (ref uint32, r *record[K]) {
	last := len(q.processing) - 1
	ref = q.processing[place].ref
	r = q.records.at(ref)
	if place != last {
		moved := q.processing[last]
		q.processing[place] = moved
		q.records.at(moved.ref).value.processingPlace = int32(place + 1)
	}
	q.processing[last] = holding[K]{} // let the garbage collector have the key
	q.processing = q.processing[:last]
	r.value.processingPlace = 0
	return ref, r
}
