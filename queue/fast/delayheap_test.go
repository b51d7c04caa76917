package fast

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/internal/table"
	"orrery/queue"
)

// TestDelayHeapIsASortedList compares the heap with a list sorted by due and delaySeq.
func TestDelayHeapIsASortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := table.New[int, state](0)
		h := delayHeap[int]{records: &records}
		var model []*record[int]
		due := rapid.Map(rapid.IntRange(0, 20), func(i int) time.Duration { return time.Duration(i) })
		delaySeq := uint32(math.MaxUint32 - 5) // it will wrap around
		sort := func() {
			slices.SortStableFunc(model, func(a, b *record[int]) int { return cmp.Compare(a.Value.due, b.Value.due) })
		}
		push := func(t *rapid.T) {
			ref, r := records.Obtain(int(delaySeq), records.Hash(int(delaySeq)))
			delaySeq++
			r.Value.due, r.Value.delaySeq = due.Draw(t, "due"), delaySeq
			h.push(ref)
			model = append(model, r)
			sort()
		}
		for range 40 { // three levels, so that a removal from the middle may move the last record up
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
				if h.remove(want); want.Value.delayed() {
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
				delaySeq++
				r.Value.due, r.Value.delaySeq = due.Draw(t, "due"), delaySeq
				h.fix(r)
				model = append(slices.Delete(model, i, i+1), r)
				sort()
			},
			"": func(t *rapid.T) {
				if h.len() != len(model) || h.len() > 0 && h.at(0) != model[0] {
					t.Fatalf("%d delays, want %d", h.len(), len(model))
				}
				for i := range h.len() {
					if int(h.at(i).Value.delayPlace) != i+1 {
						t.Fatalf("index %d is %d", i, h.at(i).Value.delayPlace)
					}
					if parent := (i - 1) / heapArity; i > 0 && h.at(i).Value.before(&h.at(parent).Value) {
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
	records := table.New[int, state](0)
	h := delayHeap[int]{records: &records}
	for i := range keepHeap + 1 {
		ref, r := records.Obtain(i, records.Hash(i))
		r.Value.due = time.Duration(i)
		h.push(ref)
	}
	for i := range keepHeap + 1 {
		_, first := h.first()
		require.Equal(t, i, first.Key)
		h.remove(first)
	}
	assert.Zero(t, cap(h.refs))
}

// The queue removes the record of a key that is done.
func TestKeysAreForgotten(t *testing.T) {
	q := NewDelaying(queue.Config[int]{})
	defer q.ShutDown()
	const n = 1000
	for i := range n {
		q.Add(i)
		q.AddAfter(n+i, time.Hour)
	}
	require.Equal(t, 2*n, q.records.Len())
	for range n {
		key, _ := q.Get()
		q.Done(key)
	}
	require.NoError(t, q.Check())
	assert.Equal(t, n, q.records.Len(), "only the delayed keys have records")
	for i := range n {
		q.Add(n + i) // cancels the delay
		key, _ := q.Get()
		q.Done(key)
	}
	require.NoError(t, q.Check())
	assert.Zero(t, q.records.Len())
	q.AddAfter(1, time.Hour)
	q.ShutDown()
	assert.Zero(t, q.records.Len(), "the delays were dropped")
}
