package dispatchbench

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A counting witness detects missing, extra and wrong updates.
func TestAWitnessThatCounts(t *testing.T) {
	const last, mark = 3, 4
	s := scriptOf(Config{Objects: 2}, []int{0, 1, 0, 1})
	start := func() (*witness, *state) {
		w := newWitness(s, false)
		for object := range s.keys {
			w.OnAdd(s.initialIdentity(object))
		}
		w.count(4)
		return w, newState(s)
	}
	deliver := func(w *witness, event int) {
		if !w.Counted() {
			e := s.events[event]
			w.OnUpdate(s.versionOf(e.previous), s.identity(event))
		}
	}

	w, state := start()
	for event := 0; event <= mark; event++ {
		deliver(w, event)
		state.sent(event)
	}
	assert.Len(t, w.marked, 1)
	w.resume(state)
	deliver(w, 0)
	assert.NoError(t, w.verify(5, state))

	t.Run("one is missing", func(t *testing.T) {
		w, _ := start()
		for _, event := range []int{0, 1, last, mark} {
			deliver(w, event)
		}
		assert.Empty(t, w.marked, "the mark was taken for an update")
	})
	t.Run("one too many", func(t *testing.T) {
		w, state := start()
		for _, event := range []int{0, 1, 1, 2, last, mark} {
			deliver(w, event)
		}
		assert.Error(t, w.verify(4, state))
	})
	t.Run("not the last state", func(t *testing.T) {
		w, state := start()
		for event := 0; event <= mark; event++ {
			deliver(w, event)
			state.sent(event)
		}
		w.resume(state)
		deliver(w, 2) // from the state of event 0, but event 2 was sent last
		assert.Error(t, w.verify(5, state))
	})
}
