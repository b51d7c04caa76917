package fast

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

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
