package fast

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/indexer"
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

// TestListAgainstSlice applies the same changes to a list and to a slice, and takes snapshots,
// which must never change.
func TestListAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type taken struct {
			view view[int]
			want []int
		}
		var l list[int]
		var model []int
		var snapshots []taken
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"change": func(t *rapid.T) {
				for range rapid.IntRange(1, 200).Draw(t, "changes") {
					next++
					kind := rapid.SampledFrom([]string{"push", "push", "set", "pop"}).Draw(t, "kind")
					switch {
					case kind == "push" || len(model) == 0:
						l.push(next)
						model = append(model, next)
					case kind == "set":
						pos := rapid.IntRange(0, len(model)-1).Draw(t, "pos")
						l.set(pos, next)
						model[pos] = next
					default:
						if got, want := l.pop(), model[len(model)-1]; got != want {
							t.Fatalf("popped %d, want %d", got, want)
						}
						model = model[:len(model)-1]
					}
				}
			},
			"snapshot": func(*rapid.T) {
				snapshots = append(snapshots, taken{l.snapshot(), slices.Clone(model)})
			},
			"forget": func(t *rapid.T) {
				if len(snapshots) > 3 {
					snapshots = snapshots[1:]
				}
			},
			"": func(t *rapid.T) {
				if err := l.check(); err != nil {
					t.Fatal(err)
				}
				if got := l.elements(); !slices.Equal(got, model) {
					t.Fatalf("the list is %v, want %v", got, model)
				}
				for i, s := range snapshots {
					if got := s.view.elements(); !slices.Equal(got, s.want) {
						t.Fatalf("snapshot %d shows %v, was %v", i, got, s.want)
					}
				}
			},
		})
	})
}

func filled(n int) *list[int] {
	l := &list[int]{}
	for i := range n {
		l.push(i)
	}
	return l
}

// Without readers a write copies nothing.
func TestListCopiesNothingWithoutReaders(t *testing.T) {
	l := filled(1000)
	assert.Zero(t, testing.AllocsPerRun(100, func() { l.set(500, 7) }))
}

// After a snapshot the first write copies the directory and one chunk; further writes to the same
// chunk copy nothing.
func TestListCopiesWhatItWritesOnce(t *testing.T) {
	l := filled(900)
	before := l.snapshot()
	l.set(500, 7)
	for i := range before.chunks {
		shared := &before.chunks[i].items[0] == &l.chunks[i].items[0]
		assert.Equal(t, i != 500/chunkSize, shared, "chunk %d is shared", i)
	}
	assert.Equal(t, 500, before.chunks[500/chunkSize].items[500%chunkSize])
	assert.Zero(t, testing.AllocsPerRun(100, func() { l.set(501, 8) }))
}

// Readers read a snapshot without the lock while the list is written.
func TestSnapshotsAreReadWhileTheListIsWritten(t *testing.T) {
	const n = 3 * chunkSize
	l := &list[int]{}
	for range n {
		l.push(0)
	}
	var readers sync.WaitGroup
	for round := range 500 {
		s := l.snapshot()
		if round%10 == 0 {
			readers.Go(func() {
				for _, e := range s.elements() {
					if !assert.Equal(t, round, e, "a snapshot shows a later write") {
						return
					}
				}
			})
		}
		for pos := range n {
			l.set(pos, round+1)
		}
	}
	readers.Wait()
	require.NoError(t, l.check())
}

// A reader takes no lock, so that a key must not be found before its object is in place.
func TestAKeyIsFoundWithItsObject(t *testing.T) {
	x := New(indexer.Config[string]{KeyFunc: func(obj string) (string, error) { return obj, nil }})
	keys := make([]string, 20_000)
	for i := range keys {
		keys[i] = fmt.Sprint("key ", i)
	}
	var next atomic.Int64
	var broken any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { broken = recover() }()
		for at := next.Load(); at < int64(len(keys)); at = next.Load() {
			if obj, exists := x.GetByKey(keys[at]); exists && obj != keys[at] {
				panic("the object is " + obj)
			}
		}
	}()
	for i, key := range keys {
		assert.NoError(t, x.Add(key))
		next.Store(int64(i + 1))
	}
	<-done
	require.Nil(t, broken, "a reader has found a key whose object was not in place yet")
}

// An index that is added while Put computes the values of an object makes Put compute them again.
func TestAnIndexErrorIsReportedOnceIfAddIndexersRunsInBetween(t *testing.T) {
	bad := errors.New("no values")
	values, reported := 0, 0
	var x *Indexer[string]
	x = New(indexer.Config[string]{
		KeyFunc: func(obj string) (string, error) { return obj, nil },
		Indexers: indexer.Indexers[string]{"bad": func(string) ([]string, error) {
			if values++; values == 1 {
				require.NoError(t, x.AddIndexers(indexer.Indexers[string]{"more": func(obj string) ([]string,
					error) {
					return []string{obj}, nil
				}}))
			}
			return nil, bad
		}},
		Trace: &indexer.Trace{IndexFailed: func(errs *indexer.IndexErrors) { reported += errs.Total }},
	})
	err := x.Add("a")
	require.Equal(t, 2, values, "the values are computed for the indexes before and after AddIndexers")
	assert.Equal(t, &indexer.IndexError{Index: "bad", Key: "a", Err: bad}, err,
		"errors of the attempt that was given up count as well")
	assert.Equal(t, 1, reported, "errors that IndexFailed has reported")
	found, err := x.ByIndex("more", "a")
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, found, "the new index has the object")
}
