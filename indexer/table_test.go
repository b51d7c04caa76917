package indexer

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// thing is an entry for tests.
type thing struct {
	identity
	n int
}

func thingIdentity(e *thing) *identity { return &e.identity }

// collidingIdentity makes keys of all lengths that begin alike, with four
// different hashes: two for the first group, two for the last one.
func collidingIdentity(i int) identity {
	id := newTable(0, thingIdentity).identify(strings.Repeat("k", i) + fmt.Sprint(i%2))
	id.hash = [...]uint64{0, 1, math.MaxUint64, math.MaxUint64 - 1}[i%4]
	return id
}

// TestTableAgainstMap uses hashes of four values only, so that searches are long
// and come past slots that were left.
func TestTableAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := newTable(rapid.IntRange(0, 20).Draw(t, "room"), thingIdentity)
		model := map[string]*thing{}
		key := rapid.Map(rapid.IntRange(0, 60), func(i int) identity {
			return collidingIdentity(i)
		})
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				id := key.Draw(t, "key")
				if model[id.key] == nil {
					model[id.key] = &thing{identity: id}
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
					id := collidingIdentity(i)
					if got := table.find(&id); got != model[id.key] {
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

// The empty key is a key.
func TestTableEmptyKey(t *testing.T) {
	table := newTable(0, thingIdentity)
	id := identity{}
	assert.Nil(t, table.find(&id))
	e := &thing{identity: id}
	table.insert(e)
	assert.Same(t, e, table.find(&id))
	table.remove(e)
	assert.Nil(t, table.find(&id))
}

// A table that has been big gives the memory back.
func TestTableShrinks(t *testing.T) {
	table := newTable(0, thingIdentity)
	var all []*thing
	for i := range 10_000 {
		e := &thing{identity: table.identify(fmt.Sprint(i))}
		all = append(all, e)
		table.insert(e)
	}
	assert.GreaterOrEqual(t, len(*table.groups.Load())*groupSize, 10_000)
	for _, e := range all[10:] {
		table.remove(e)
	}
	assert.LessOrEqual(t, len(*table.groups.Load())*groupSize, 128)
	for _, e := range all[:10] {
		assert.Same(t, e, table.find(&e.identity))
	}
	assert.NoError(t, table.check())
}

// Keys that come and go leave marks behind; they must not make the table grow.
func TestTableDoesNotGrowByMarks(t *testing.T) {
	table := newTable(0, thingIdentity)
	for i := range 10_000 {
		e := &thing{identity: table.identify(fmt.Sprint(i))}
		table.insert(e)
		table.remove(e)
	}
	assert.Len(t, *table.groups.Load(), 1)
}

// Readers look for keys that are there all the time, while others around them
// come and go and the table grows and shrinks.
func TestTableIsReadWhileWritten(t *testing.T) {
	table := newTable(0, thingIdentity)
	var steady []*thing
	for i := range 50 {
		e := &thing{identity: table.identify(fmt.Sprint("steady", i)), n: i}
		steady = append(steady, e)
		table.insert(e)
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				for _, e := range steady {
					if got := table.find(&e.identity); !assert.Same(t, e, got) {
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
			e := &thing{identity: table.identify(fmt.Sprint("passing", i))}
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
