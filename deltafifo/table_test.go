package deltafifo

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// A table against a Go map, full enough for records to stand far from their homes and around the end.
func TestTableQuick(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := newTable[int](0)
		model := map[string]*record[int]{}
		key := rapid.Map(rapid.IntRange(0, 60), strconv.Itoa)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				r := newRecord(key.Draw(t, "key"), added(1))
				assert.Same(t, model[r.key], table.put(r))
				if model[r.key] == nil {
					model[r.key] = r
				}
			},
			"replace": func(t *rapid.T) {
				r := newRecord(key.Draw(t, "key"), added(2))
				if old := model[r.key]; old != nil {
					table.replace(old, r)
					model[r.key] = r
				}
			},
			"remove": func(t *rapid.T) {
				if r := model[key.Draw(t, "key")]; r != nil {
					table.remove(r)
					delete(model, r.key)
				}
			},
			"": func(t *rapid.T) {
				if err := table.check(); err != nil {
					t.Fatal(err)
				}
				assert.Equal(t, len(model), table.count)
				for i := range 61 {
					assert.Same(t, model[strconv.Itoa(i)], table.get(strconv.Itoa(i)))
				}
			},
		})
	})
}

func TestTableGrowsNoMoreThanItMust(t *testing.T) {
	for _, n := range []int{0, 12, 13, 1000, 100_000} {
		table := newTable[int](n)
		slots := len(table.slots)
		for i := range n {
			table.put(newRecord(strconv.Itoa(i), added(i)))
		}
		assert.NoError(t, table.check())
		assert.Len(t, table.slots, slots, "room for %d was asked for", n)
	}
}

func TestTableDoesNotSearchForWhatIsNotThere(t *testing.T) {
	table := newTable[int](0)
	table.put(newRecord("a", added(1)))
	assert.Panics(t, func() { table.remove(newRecord("a", added(1))) }, "another record of the same key")
	assert.Panics(t, func() { table.remove(newRecord("b", added(1))) })
}
