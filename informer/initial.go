package informer

import "iter"

// initialContent is the state of the store at the moment in which a handler joins. It is a snapshot: taking it
// costs nothing that grows with the store, and what happens to the store afterwards does not change it.
type initialContent[T any] struct {
	count int
	// next returns the next few objects; they are valid until the next call. ok is false at the end.
	next func() (objects []keyed[T], ok bool)
	// stop has to be called when next is not going to be.
	stop func()
}

type keyed[T any] struct {
	key string
	obj T
}

// takeInitial fixes the content of a store that holds count objects. A nil result means that there are none.
//
// The iterator of the store takes its snapshot when the iteration begins, so it is begun here, under the lock of
// the caller, and finished on another goroutine; iter.Pull can do that.
func takeInitial[T any](count int, all iter.Seq2[string, T]) *initialContent[T] {
	next, stop := iter.Pull(inPortions(all))
	first, ok := next()
	if !ok {
		return nil
	}
	content := &initialContent[T]{count: count, stop: stop}
	content.next = func() ([]keyed[T], bool) {
		content.next = next
		return first, true
	}
	return content
}

// portionSize is the number of objects that one switch to the iterator of the store fetches.
const portionSize = 128

// inPortions spares most of the switches between the two sides of iter.Pull.
func inPortions[T any](all iter.Seq2[string, T]) iter.Seq[[]keyed[T]] {
	return func(yield func([]keyed[T]) bool) {
		portion := make([]keyed[T], 0, portionSize)
		for key, obj := range all {
			if portion = append(portion, keyed[T]{key, obj}); len(portion) == portionSize {
				if !yield(portion) {
					return
				}
				portion = portion[:0]
			}
		}
		if len(portion) > 0 {
			yield(portion)
		}
	}
}
