package fast

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// thing is an entry of the tests.
type thing struct {
	entry
	n int
}

func thingEntry(e *thing) *entry { return &e.entry }

// collidingEntry returns keys of all lengths with a common prefix and one of four hashes: two for
// the first group, two for the last.
func collidingEntry(i int) entry {
	hashes := [...]uint64{0, 1, math.MaxUint64, math.MaxUint64 - 1}
	return entry{key: strings.Repeat("k", i) + fmt.Sprint(i%2), hash: hashes[i%4]}
}

func (t *table[E]) entryFor(key string) entry { return entry{hash: t.hash(key), key: key} }

// TestTableAgainstMap uses only four hashes, so that lookups are long and pass tombstones.
func TestTableAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := newTable(rapid.IntRange(0, 20).Draw(t, "room"), thingEntry)
		model := map[string]*thing{}
		key := rapid.Map(rapid.IntRange(0, 60), func(i int) entry {
			return collidingEntry(i)
		})
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				id := key.Draw(t, "key")
				if model[id.key] == nil {
					model[id.key] = &thing{entry: id}
					table.insert(model[id.key])
				}
			},
			"remove": func(t *rapid.T) {
				id := key.Draw(t, "key")
				if e := model[id.key]; e != nil {
					delete(model, id.key)
					table.remove(e)
				}
			},
			"": func(t *rapid.T) {
				if err := table.check(); err != nil {
					t.Fatal(err)
				}
				for i := range 61 {
					id := collidingEntry(i)
					if got := find(table, id.hash, id.key); got != model[id.key] {
						t.Fatalf("%s: found %v, want %v", id.key, got, model[id.key])
					}
				}
				count := 0
				for e := range table.entries() {
					count++
					if model[e.key] != e {
						t.Fatalf("%s is not an entry", e.key)
					}
				}
				if count != len(model) || table.len() != len(model) {
					t.Fatalf("%d entries, %d counted, want %d", count, table.len(), len(model))
				}
			},
		})
	})
}

// The empty key is an ordinary key.
func TestTableEmptyKey(t *testing.T) {
	table := newTable(0, thingEntry)
	id := entry{}
	assert.Nil(t, find(table, id.hash, id.key))
	e := &thing{entry: id}
	table.insert(e)
	assert.Same(t, e, find(table, id.hash, id.key))
	table.remove(e)
	assert.Nil(t, find(table, id.hash, id.key))
}

// A table that has shrunk releases its memory.
func TestTableShrinks(t *testing.T) {
	table := newTable(0, thingEntry)
	var all []*thing
	for i := range 10_000 {
		e := &thing{entry: table.entryFor(fmt.Sprint(i))}
		all = append(all, e)
		table.insert(e)
	}
	assert.GreaterOrEqual(t, len(*table.groups.Load())*groupSize, 10_000)
	for _, e := range all[10:] {
		table.remove(e)
	}
	assert.LessOrEqual(t, len(*table.groups.Load())*groupSize, 128)
	for _, e := range all[:10] {
		assert.Same(t, e, find(table, e.hash, e.key))
	}
	assert.NoError(t, table.check())
}

// A table is rebuilt with half as much again to spare, neither at every change nor with more
// memory.
func TestTableIsRebuiltSeldom(t *testing.T) {
	table := newTable(0, thingEntry)
	rebuilds, groups := 0, table.groups.Load()
	look := func(entries int) {
		if now := table.groups.Load(); now != groups {
			rebuilds, groups = rebuilds+1, now
			assert.LessOrEqual(t, len(*now)*groupSize, 3*entries+2*groupSize, "slots for %d entries", entries)
		}
	}
	var all []*thing
	for i := range 10_000 {
		e := &thing{entry: table.entryFor(fmt.Sprint(i))}
		all = append(all, e)
		table.insert(e)
		look(i + 1)
	}
	assert.LessOrEqual(t, rebuilds, 25, "1.5 to the power of 23 is more than 10,000")
	for i, e := range all {
		table.remove(e)
		look(len(all) - i - 1)
	}
	assert.LessOrEqual(t, rebuilds, 50)
}

// Keys that come and go leave tombstones, which must not make the table grow.
func TestTableDoesNotGrowByTombstones(t *testing.T) {
	table := newTable(0, thingEntry)
	for i := range 10_000 {
		e := &thing{entry: table.entryFor(fmt.Sprint(i))}
		table.insert(e)
		table.remove(e)
	}
	assert.Len(t, *table.groups.Load(), 1)
}

// Readers look up permanent keys while others come and go and the table grows and shrinks.
func TestTableIsReadWhileWritten(t *testing.T) {
	table := newTable(0, thingEntry)
	var steady []*thing
	for i := range 50 {
		e := &thing{entry: table.entryFor(fmt.Sprint("steady", i)), n: i}
		steady = append(steady, e)
		table.insert(e)
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				for _, e := range steady {
					if got := find(table, e.hash, e.key); !assert.Same(t, e, got) {
						return
					}
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 20 {
		var passing []*thing
		for i := range 1000 {
			e := &thing{entry: table.entryFor(fmt.Sprint("passing", i))}
			passing = append(passing, e)
			table.insert(e)
		}
		for _, e := range passing {
			table.remove(e)
		}
	}
	close(done)
	readers.Wait()
	assert.NoError(t, table.check())
}
