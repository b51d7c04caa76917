package queuetest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
)

func runOrder(t *testing.T, impl Implementation) {
	scenario := func(name string, f func(*testing.T, queue.Interface[string], *stack)) {
		bubble(t, name, func(t *testing.T) {
			order := &stack{}
			f(t, ended(t, impl.NewWithOrder(order)), order)
		})
	}
	scenario("the order decides", testOrderDecides)
	scenario("Touch tells of a key that waits already", testTouch)
	scenario("shutdown and drain", testOrderDrain)
}

// stack hands out the last key first.
type stack struct {
	keys    []string
	touched []string
}

func (s *stack) Push(key string) { s.keys = append(s.keys, key) }

func (s *stack) Len() int { return len(s.keys) }

func (s *stack) Pop() string {
	last := len(s.keys) - 1
	key := s.keys[last]
	s.keys = slices.Delete(s.keys, last, last+1)
	return key
}

func (s *stack) Touch(key string) { s.touched = append(s.touched, key) }

func testOrderDecides(t *testing.T, q queue.Interface[string], order *stack) {
	q.Add("a")
	q.Add("b")
	q.Add("c")
	q.Add("a")
	assert.Equal(t, 3, q.Len())
	assert.Equal(t, []string{"a", "b", "c"}, order.keys)
	require.Equal(t, "c", take(t, q))
	q.Add("c")
	assert.Equal(t, []string{"a", "b"}, order.keys, "a key with a worker is not in the order")
	q.Done("c")
	assert.Equal(t, []string{"c", "b", "a"}, takeAll(t, q))
}

func testTouch(t *testing.T, q queue.Interface[string], order *stack) {
	q.Add("a")
	assert.Empty(t, order.touched)
	q.Add("a")
	assert.Equal(t, []string{"a"}, order.touched)
	take(t, q)
	q.Add("a")
	q.Add("a")
	assert.Equal(t, []string{"a"}, order.touched, "with a worker it does not wait")
	q.Done("a")
	q.Add("a")
	assert.Equal(t, []string{"a", "a"}, order.touched)
}

func testOrderDrain(t *testing.T, q queue.Interface[string], order *stack) {
	q.Add("a")
	take(t, q)
	q.Add("b")
	drained := background(q.ShutDownWithDrain)
	require.False(t, drained())
	require.Equal(t, "b", take(t, q))
	q.Done("a")
	q.Done("b")
	assert.True(t, drained())
	assert.Zero(t, order.Len())
}
