package queue

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The queue as a whole is compared with a model by queuetest; here are its parts.

// TestTableIsAMap compares the table with a Go map. Few different hashes make
// long probes, which is where such tables go wrong.
func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := newTable[int, int]()
		model := map[int]*entry[int, int]{}
		hashes := rapid.SampledFrom([]uint32{1, 3, 64, 1 << 30}).Draw(t, "hashes")
		hash := func(key int) uint32 { return uint32(key)%hashes | taken }
		key := rapid.IntRange(0, 80)
		obtain := func(k int) {
			ref, r := table.obtain(k, hash(k))
			if known := model[k]; known != nil && known != r {
				t.Fatalf("%d has two entries", k)
			} else if known == nil && r.value != 0 {
				t.Fatalf("a new entry has the value %d", r.value)
			}
			if table.at(ref) != r {
				t.Fatalf("reference %d leads elsewhere", ref)
			}
			r.value = k + 1
			model[k] = r
		}
		t.Repeat(map[string]func(*rapid.T){
			"obtain": func(t *rapid.T) { obtain(key.Draw(t, "key")) },
			"obtain many": func(t *rapid.T) {
				from := rapid.SampledFrom([]int{0, 100, 1000}).Draw(t, "from")
				for k := range rapid.SampledFrom([]int{80, 80, 1500}).Draw(t, "keys") {
					obtain(from + k)
				}
			},
			"remove": func(t *rapid.T) {
				k := key.Draw(t, "key")
				place, _, r := table.find(k, hash(k))
				if r != model[k] {
					t.Fatalf("find(%d) is %p, want %p", k, r, model[k])
				}
				if r != nil {
					table.remove(place)
					delete(model, k)
				}
			},
			"sweep": func(t *rapid.T) {
				stay := rapid.SampledFrom([]int{0, 50, 900, 5000}).Draw(t, "stay")
				table.sweep(func(v *int) bool { return *v > stay })
				for k := range model {
					if k+1 > stay {
						delete(model, k)
					}
				}
			},
			"": func(t *rapid.T) {
				seen := 0
				table.all(func(ref uint32, r *entry[int, int]) {
					seen++
					if model[r.key] != r || table.at(ref) != r {
						t.Fatalf("the entry of %d should not be there", r.key)
					}
				})
				if seen != len(model) || table.live != len(model) {
					t.Fatalf("%d entries, live %d, want %d", seen, table.live, len(model))
				}
				if err := table.check(); err != nil {
					t.Fatal(err)
				}
				for k, want := range model {
					if _, _, r := table.find(k, hash(k)); r != want || r.key != k || r.value != k+1 {
						t.Fatalf("find(%d) is %p, want %p", k, r, want)
					}
				}
			},
		})
	})
}

func TestTableShrinksAfterAStorm(t *testing.T) {
	table := newTable[int, int]()
	fill := func() {
		for k := range keepSlots {
			_, r := table.obtain(k, table.hash(k))
			r.value = k
		}
		require.Greater(t, len(table.slots), keepSlots)
	}
	isSmall := func() {
		t.Helper()
		assert.Len(t, table.slots, minSlots)
		full := 0
		for _, c := range table.chunks {
			if c != nil {
				full++
			}
		}
		assert.LessOrEqual(t, full, 1)
	}
	fill()
	for k := range keepSlots {
		place, _, r := table.find(k, table.hash(k))
		require.NotNil(t, r)
		table.remove(place)
	}
	isSmall()
	_, _, r := table.find(1, table.hash(1))
	assert.Nil(t, r)
	_, r = table.obtain(1, table.hash(1))
	assert.Equal(t, 1, r.key)

	fill()
	table.sweep(func(v *int) bool { return *v > 3 })
	isSmall()
	assert.Equal(t, 4, table.live)
	require.NoError(t, table.check())
	fill()
	require.NoError(t, table.check())
	assert.Equal(t, keepSlots, table.live)
}

func TestRingIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring[int]
		var model []int
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 1, 1, 100}).Draw(t, "n") {
					next++
					r.push(next)
					model = append(model, next)
				}
			},
			"pop": func(t *rapid.T) {
				for range min(len(model), rapid.SampledFrom([]int{1, 1, 1, 100}).Draw(t, "n")) {
					if got := r.pop(); got != model[0] {
						t.Fatalf("pop is %d, want %d", got, model[0])
					}
					model = model[1:]
				}
			},
			"": func(t *rapid.T) {
				if r.len() != len(model) {
					t.Fatalf("len is %d, want %d", r.len(), len(model))
				}
				for i, want := range model {
					if got := r.at(i); got != want {
						t.Fatalf("at(%d) is %d, want %d", i, got, want)
					}
				}
			},
		})
	})
}

func TestRingShrinksAfterAStorm(t *testing.T) {
	var r ring[int]
	for i := range keepRing + 1 {
		r.push(i)
	}
	for i := range keepRing + 1 {
		require.NotEmpty(t, r.buffer)
		require.Equal(t, i, r.pop())
	}
	assert.Empty(t, r.buffer)
	r.push(1)
	assert.Equal(t, 1, r.pop())
}

// TestDelayHeapIsASortedList compares the heap with a list that is sorted by due
// and ticket.
func TestDelayHeapIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := newTable[int, state]()
		h := delayHeap[int]{records: &records}
		var model []*record[int]
		due := rapid.Map(rapid.IntRange(0, 20), func(i int) time.Duration { return time.Duration(i) })
		ticket := uint32(math.MaxUint32 - 5) // it is going to start over
		sort := func() {
			slices.SortStableFunc(model, func(a, b *record[int]) int { return cmp.Compare(a.value.due, b.value.due) })
		}
		push := func(t *rapid.T) {
			ref, r := records.obtain(int(ticket), records.hash(int(ticket)))
			ticket++
			r.value.due, r.value.ticket = due.Draw(t, "due"), ticket
			h.push(ref)
			model = append(model, r)
			sort()
		}
		for range 40 { // three levels, so that a removal from the middle may have to move the last one up
			push(t)
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": push,
			"remove": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(model)-1).Draw(t, "i")
				want := model[i]
				if h.remove(want); want.value.delayed() {
					t.Fatalf("%v was removed and is delayed", want)
				}
				model = slices.Delete(model, i, i+1)
			},
			"move": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(model)-1).Draw(t, "i")
				r := model[i]
				ticket++
				r.value.due, r.value.ticket = due.Draw(t, "due"), ticket
				h.fix(r)
				model = append(slices.Delete(model, i, i+1), r)
				sort()
			},
			"": func(t *rapid.T) {
				if h.len() != len(model) || h.len() > 0 && h.at(0) != model[0] {
					t.Fatalf("%d delays, want %d", h.len(), len(model))
				}
				for i := range h.len() {
					if int(h.at(i).value.delayPlace) != i+1 {
						t.Fatalf("index %d is %d", i, h.at(i).value.delayPlace)
					}
					if parent := (i - 1) / heapArity; i > 0 && h.at(i).value.before(&h.at(parent).value) {
						t.Fatalf("index %d ends before its parent, index %d", i, parent)
					}
				}
			},
		})
		for _, want := range model {
			if _, first := h.first(); first != want {
				t.Fatalf("the next is %v, want %v", first, want)
			}
			h.remove(want)
		}
	})
}

func TestDelayHeapShrinksAfterAStorm(t *testing.T) {
	records := newTable[int, state]()
	h := delayHeap[int]{records: &records}
	for i := range keepRing + 1 {
		ref, r := records.obtain(i, records.hash(i))
		r.value.due = time.Duration(i)
		h.push(ref)
	}
	for i := range keepRing + 1 {
		_, first := h.first()
		require.Equal(t, i, first.key)
		h.remove(first)
	}
	assert.Zero(t, cap(h.refs))
}

// TestExponentialIsExact compares the shift with arithmetic that cannot overflow.
func TestExponentialIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := time.Duration(rapid.Int64Min(1).Draw(t, "base"))
		longest := time.Duration(rapid.Int64Min(1).Draw(t, "max"))
		limiter := NewItemExponentialFailureRateLimiter[string](base, longest)
		for n := range 70 {
			want := new(big.Int).Lsh(big.NewInt(int64(base)), uint(n))
			if limit := big.NewInt(int64(longest)); want.Cmp(limit) > 0 {
				want = limit
			}
			if got := limiter.When("a"); int64(got) != want.Int64() {
				t.Fatalf("wait %d is %d, want %v", n, got, want)
			}
		}
	})
}

func TestExponentialWithoutBase(t *testing.T) {
	for _, base := range []time.Duration{0, -3} {
		limiter := NewItemExponentialFailureRateLimiter[string](base, time.Second)
		for range 100 {
			require.Zero(t, limiter.When("a"))
		}
	}
}

// TestJitter: never less than the limiter says, never more than the factor
// allows, never the same.
func TestJitter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wait := time.Duration(rapid.Int64Min(0).Draw(t, "wait"))
		factor := rapid.Float64Range(-1, 10).Draw(t, "factor")
		limiter := NewWithJitterRateLimiter(NewItemFastSlowRateLimiter[string](wait, wait, 0), factor)
		got := limiter.When("a")
		most := float64(wait) * (1 + max(factor, 0))
		if got < wait || float64(got) > most*(1+1e-9)+1 {
			t.Fatalf("%v with factor %v became %v", wait, factor, got)
		}
		if limiter.NumRequeues("a") != 1 {
			t.Fatalf("NumRequeues is not passed on")
		}
	})
	for range 100 {
		limiter := NewWithJitterRateLimiter(NewItemFastSlowRateLimiter[string](never-5, never-5, 0), 10)
		require.GreaterOrEqual(t, limiter.When("a"), never-5, "more than any duration can be")
	}
	limiter := NewWithJitterRateLimiter(NewItemFastSlowRateLimiter[string](time.Hour, time.Hour, 0), 0.5)
	different := map[time.Duration]bool{}
	for i := range 100 {
		different[limiter.When(fmt.Sprint(i))] = true
	}
	assert.Greater(t, len(different), 90)
	limiter.Forget("1")
	assert.Zero(t, limiter.NumRequeues("1"))
}

func TestBucketWithoutLimit(t *testing.T) {
	for _, qps := range []float64{0, -1} {
		limiter := NewBucketRateLimiter[string](qps, 1)
		for range 100 {
			assert.Zero(t, limiter.When("a"))
		}
	}
}

func TestBucketExtremes(t *testing.T) {
	limiter := NewBucketRateLimiter[string](1e-300, 0)
	assert.Zero(t, limiter.When("a"), "a burst of 0 counts as 1")
	assert.Greater(t, limiter.When("a"), 100*365*24*time.Hour)
}
