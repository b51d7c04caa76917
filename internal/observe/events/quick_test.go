package events

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/restclient/api"
)

// The bounded map agrees with a list of keys in the order of their last use.
func TestLRUAgainstAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 8).Draw(t, "limit")
		c := newLRU[int, int](limit)
		var used []int // least recently used first
		values := map[int]int{}
		for _, key := range rapid.SliceOf(rapid.IntRange(0, 12)).Draw(t, "keys") {
			value := c.at(key)
			require.Equal(t, values[key], *value)
			*value++
			values[key]++
			used = append(slices.DeleteFunc(used, func(k int) bool { return k == key }), key)
			if len(used) > limit {
				delete(values, used[0])
				used = used[1:]
			}
			require.Len(t, c.entries, len(used))
			for _, key := range used {
				require.Contains(t, c.entries, key)
			}
		}
	})
}

// The recorder's memory is bounded, however many Events are recorded.
func TestMemoryIsBounded(t *testing.T) {
	c := newCorrelator()
	now := time.Unix(1_000_000, 0)
	for i := range 3 * remembered {
		for _, message := range []string{"a", "b"} {
			event := &api.Event{InvolvedObject: api.ObjectReference{Name: fmt.Sprint(i)}, Message: message, Count: 1}
			require.NotNil(t, c.correlate(event, now))
		}
	}
	assert.Len(t, c.groups.entries, remembered)
	assert.Len(t, c.seen.entries, remembered)
	assert.Len(t, c.budgets.entries, remembered)
	event := &api.Event{InvolvedObject: api.ObjectReference{Name: "one"}}
	for i := range 1000 {
		event.Message = fmt.Sprint(i)
		c.correlate(event, now)
	}
	for _, e := range c.groups.entries {
		assert.LessOrEqual(t, len(e.value.messages), similarBefore)
	}
}
