package table

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// check returns an error that names the first invariant that does not hold.
func (t *Table[K, V]) check() error {
	used := 0
	for _, s := range t.slots {
		if s == 0 {
			continue
		}
		used++
		c := t.chunks[s.ref()/chunkSize]
		if c.hashes[s.ref()%chunkSize] != s.hash() {
			return fmt.Errorf("the hash of reference %d differs", s.ref())
		}
	}
	switch all := max(0, len(t.chunks)-1) * chunkSize; {
	case t.live != used:
		return fmt.Errorf("%d live entries in %d slots", t.live, used)
	case 4*t.live > 3*len(t.slots):
		return fmt.Errorf("%d live entries in a table of %d slots", t.live, len(t.slots))
	case all-int(t.end-t.next)-len(t.free) != t.live:
		return fmt.Errorf("room for %d entries, %d never used, %d free, %d live", all, t.end-t.next,
			len(t.free), t.live)
	}
	for _, ref := range t.free {
		c := t.chunks[ref/chunkSize]
		if c.hashes[ref%chunkSize] != 0 || any(c.entries[ref%chunkSize]) != any(Entry[K, V]{}) {
			return fmt.Errorf("free entry %d is not zero", ref)
		}
	}
	return nil
}

// TestTableIsAMap compares the table with a Go map. Few different hashes make
// long probes, which is where such tables go wrong.
func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := New[int, int](0)
		model := map[int]*Entry[int, int]{}
		hashes := rapid.SampledFrom([]uint32{1, 3, 64, 1 << 30}).Draw(t, "hashes")
		hash := func(key int) uint32 { return uint32(key)%hashes | taken }
		key := rapid.IntRange(0, 80)
		obtain := func(k int) {
			ref, r := table.Obtain(k, hash(k))
			if known := model[k]; known != nil && known != r {
				t.Fatalf("%d has two entries", k)
			} else if known == nil && r.Value != 0 {
				t.Fatalf("a new entry has the value %d", r.Value)
			}
			if 4*table.live > 3*len(table.slots) { // or a search for a missing key never ends
				t.Fatalf("%d entries are too many for %d slots", table.live, len(table.slots))
			}
			if table.At(ref) != r {
				t.Fatalf("reference %d leads elsewhere", ref)
			}
			r.Value = k + 1
			model[k] = r
		}
		t.Repeat(map[string]func(*rapid.T){
			"obtain": func(t *rapid.T) { obtain(key.Draw(t, "key")) },
			"obtain many": func(t *rapid.T) {
				from := rapid.SampledFrom([]int{0, 100, 1000}).Draw(t, "from")
				keys := rapid.SampledFrom([]int{80, 80, 1500}).Draw(t, "keys")
				if hashes < 1000 {
					keys = 80 // the probes are long enough
				}
				for k := range keys {
					obtain(from + k)
				}
			},
			"remove": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 1, 70}).Draw(t, "n") {
					k := key.Draw(t, "key")
					ref, r := table.Find(k, hash(k))
					if r != model[k] {
						t.Fatalf("Find(%d) is %p, want %p", k, r, model[k])
					}
					if r != nil {
						table.Remove(ref)
						delete(model, k)
					}
				}
			},
			"": func(t *rapid.T) {
				seen := 0
				table.All(func(ref uint32, r *Entry[int, int]) {
					seen++
					if model[r.Key] != r || table.At(ref) != r {
						t.Fatalf("the entry of %d should not be there", r.Key)
					}
				})
				if seen != len(model) || table.Len() != len(model) {
					t.Fatalf("%d entries, live %d, want %d", seen, table.Len(), len(model))
				}
				if err := table.check(); err != nil {
					t.Fatal(err)
				}
				for k, want := range model {
					if _, r := table.Find(k, hash(k)); r != want || r.Key != k || r.Value != k+1 {
						t.Fatalf("find(%d) is %p, want %p", k, r, want)
					}
				}
			},
		})
	})
}

func TestTableShrinksAfterAStorm(t *testing.T) {
	table := New[int, int](0)
	for range 2 {
		for k := range keepSlots {
			_, r := table.Obtain(k, table.Hash(k))
			r.Value = k
		}
		require.Len(t, table.slots, 2*keepSlots, "the slots are used to three quarters")
		require.NoError(t, table.check())
		for k := range keepSlots {
			ref, r := table.Find(k, table.Hash(k))
			require.NotNil(t, r, k)
			table.Remove(ref)
		}
		assert.Equal(t, minSlots, len(table.slots), "the slots are given back")
		assert.Zero(t, len(table.chunks), "the chunks are given back")
		require.NoError(t, table.check())
	}
	_, r := table.Obtain(1, table.Hash(1))
	assert.Equal(t, 1, r.Key)
}

func TestRingIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Ring[int]
		var model []int
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 1, 1, 100}).Draw(t, "n") {
					next++
					r.Push(next)
					model = append(model, next)
				}
			},
			"pop": func(t *rapid.T) {
				for range min(len(model), rapid.SampledFrom([]int{1, 1, 1, 100}).Draw(t, "n")) {
					if got := r.Pop(); got != model[0] {
						t.Fatalf("pop is %d, want %d", got, model[0])
					}
					model = model[1:]
				}
			},
			"": func(t *rapid.T) {
				if r.Len() != len(model) {
					t.Fatalf("len is %d, want %d", r.Len(), len(model))
				}
				for i := len(model); i < len(r.buffer); i++ {
					if r.At(i) != 0 {
						t.Fatalf("a place that is free still has %d", r.At(i))
					}
				}
				for i, want := range model {
					if got := r.At(i); got != want {
						t.Fatalf("at(%d) is %d, want %d", i, got, want)
					}
				}
			},
		})
	})
}

func TestRingShrinksAfterAStorm(t *testing.T) {
	var r Ring[int]
	for i := range keepRing + 1 {
		r.Push(i)
	}
	for i := range keepRing + 1 {
		require.NotEmpty(t, r.buffer)
		require.Equal(t, i, r.Pop())
	}
	assert.Empty(t, r.buffer)
	r.Push(1)
	assert.Equal(t, 1, r.Pop())
}

func TestRemoveOfAMissingEntryPanics(t *testing.T) {
	table := New[string, int](0)
	ref, _ := table.Obtain("a", table.Hash("a"))
	table.Obtain("b", table.Hash("b"))
	table.Remove(ref)
	assert.PanicsWithValue(t, "table: Remove of an entry that is not in the table", func() { table.Remove(ref) })
	require.NoError(t, table.check())
	assert.Equal(t, 1, table.Len())
}
