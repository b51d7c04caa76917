package indexer

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// contents returns the elements of a view.
func contents[E, O any](v *view[E, O]) []E { return v.elements() }

// owned is an element with its owner.
type owned struct{ owner, element int }

func ownedContents(v *view[int, int]) []owned {
	all := []owned{}
	for owner, element := range v.all() {
		all = append(all, owned{owner, element})
	}
	return all
}

// TestListAgainstSlice drives a list and a slice through the same changes, in
// writes of several changes each, and keeps snapshots, all of which have to
// show for ever what was there when they were taken.
func TestListAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g gate
		l := newList[int, int](&g)
		model := []owned{}
		for i := range rapid.SampledFrom([]int{0, 0, 1500}).Draw(t, "elements at first") { // enough for late ones
			l.insert(i, -i)
			model = append(model, owned{-i, i})
		}
		type photo struct {
			view *view[int, int]
			want []owned
		}
		var photos []photo
		next := 1500

		change := func(t *rapid.T) {
			g.enter()
			defer g.leave()
			for range rapid.IntRange(1, 200).Draw(t, "changes") {
				next++
				kind := rapid.SampledFrom([]string{"insert", "insert", "set", "remove"}).Draw(t, "kind")
				switch {
				case kind == "insert" || len(model) == 0:
					if pos := l.insert(next, -next); pos != len(model) {
						t.Fatalf("inserted at %d of %d", pos, len(model))
					}
					model = append(model, owned{-next, next})
				case kind == "set":
					pos := rapid.IntRange(0, len(model)-1).Draw(t, "pos")
					l.set(pos, next)
					model[pos].element = next
				default:
					pos := rapid.IntRange(0, len(model)-1).Draw(t, "pos")
					last := len(model) - 1
					moved, ok := l.remove(pos)
					if ok != (pos != last) || ok && moved != model[last].owner {
						t.Fatalf("removed %d of %d: moved %d, %v", pos, len(model), moved, ok)
					}
					model[pos] = model[last]
					model = model[:last]
				}
			}
		}
		photograph := func(*rapid.T) {
			photos = append(photos, photo{l.snapshot(), slices.Clone(model)})
		}
		t.Repeat(map[string]func(*rapid.T){
			"change":     change,
			"photograph": photograph,
			"forget": func(t *rapid.T) {
				if len(photos) > 3 {
					photos = photos[1:]
				}
			},
			"": func(t *rapid.T) {
				if err := l.check(); err != nil {
					t.Fatal(err)
				}
				for i, p := range photos {
					if got := ownedContents(p.view); p.view.n != len(p.want) || !slices.Equal(got, p.want) {
						t.Fatalf("snapshot %d shows %v, was %v", i, got, p.want)
					}
					for at, e := range p.view.elements() {
						if e != p.want[at].element {
							t.Fatalf("snapshot %d shows %d at %d, was %v", i, e, at, p.want[at])
						}
					}
				}
			},
		})
	})
}

func write(g *gate, change func()) {
	g.enter()
	defer g.leave()
	change()
}

// Without readers nothing is copied: that is what makes writing cheap.
func TestListCopiesNothingWithoutReaders(t *testing.T) {
	var g gate
	l := newList[int, int](&g)
	for i := range 1000 {
		write(&g, func() { l.insert(i, i) })
	}
	before := l.current.Load()
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		write(&g, func() { l.set(500, 7) })
	}))
	assert.Same(t, before, l.current.Load())
}

// One snapshot costs the next write one directory and the elements of one
// chunk, once. Owners are copied when one of them changes.
func TestListCopiesWhatItWritesOnce(t *testing.T) {
	var g gate
	l := newList[int, int](&g)
	for i := range 900 {
		write(&g, func() { l.insert(i, i) })
	}
	v := l.snapshot()
	write(&g, func() { l.set(500, 7) })
	now := l.current.Load()
	for i := range v.chunks {
		if i == 500/chunkSize {
			assert.NotSame(t, v.chunks[i], now.chunks[i])
		} else {
			assert.Same(t, v.chunks[i], now.chunks[i], "chunk %d is still shared", i)
		}
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		write(&g, func() { l.set(501, 8) })
	}))
	owners := func(v *view[int, int], pos int) *int { return &v.chunks[pos/chunkSize].owners[0] }
	assert.Same(t, owners(v, 500), owners(now, 500), "owners are still shared")
	write(&g, func() { l.remove(500) })
	assert.NotSame(t, owners(v, 500), owners(now, 500))
	assert.Equal(t, 500, v.chunks[500/chunkSize].owners[500%chunkSize])
	assert.Equal(t, 500, v.chunks[500/chunkSize].items[500%chunkSize])
}

// A long list notes down what is written after a snapshot, and copies chunks
// for many elements at once. All views show the right elements all the time.
func TestLongListSettlesLateElements(t *testing.T) {
	const n = 2000
	var g gate
	l := newList[int, int](&g)
	want := make([]int, n)
	for i := range n {
		write(&g, func() { l.insert(i, i) })
		want[i] = i
	}
	for i := range 3 * n / lateShare {
		before := l.snapshot()
		shown := slices.Clone(want)
		write(&g, func() { l.set(i*7%n, -i) })
		want[i*7%n] = -i
		now := l.current.Load()
		if i < n/lateShare {
			assert.Same(t, &before.chunks[0], &now.chunks[0], "nothing is copied")
			assert.Len(t, now.late, i+1)
		}
		assert.LessOrEqual(t, len(now.late), n/lateShare)
		require.Equal(t, shown, contents(before))
		require.Equal(t, want, contents(now))
	}
	write(&g, func() { l.remove(n - 1) })
	assert.Empty(t, l.current.Load().late)
	assert.Equal(t, want[:n-1], contents(l.snapshot()))
	assert.NoError(t, l.check())
}

// When the readers have gone the writer is back to writing in place after a
// while.
func TestLongListWithoutReadersAnyMore(t *testing.T) {
	const n = 2000
	var g gate
	l := newList[int, int](&g)
	for i := range n {
		write(&g, func() { l.insert(i, i) })
	}
	l.snapshot()
	for i := range 4 * n {
		write(&g, func() { l.set(i%n, -i) })
	}
	assert.Empty(t, l.current.Load().late)
	assert.Zero(t, testing.AllocsPerRun(n, func() {
		write(&g, func() { l.set(500, 7) })
	}))
}

// Readers share a snapshot as long as nothing has been written.
func TestListSharesSnapshots(t *testing.T) {
	var g gate
	l := newList[int, int](&g)
	write(&g, func() { l.insert(1, 1) })
	v := l.snapshot()
	assert.Same(t, v, l.snapshot())
	assert.EqualValues(t, 1, l.wanted.Load())
	write(&g, func() { l.insert(2, 2) })
	assert.NotSame(t, v, l.snapshot())
}

// A closed view that nobody is waiting for is let go by the next write, since
// it may be all that keeps a thousand old objects in memory.
func TestListForgetsClosedViews(t *testing.T) {
	var g gate
	l := newList[int, int](&g)
	write(&g, func() { l.insert(1, 1) })
	l.snapshot()
	write(&g, func() { l.set(0, 2) })
	assert.NotNil(t, l.closed.Load())
	l.readers.Add(1) // somebody is between asking and having
	write(&g, func() { l.set(0, 3) })
	assert.NotNil(t, l.closed.Load())
	l.readers.Add(-1)
	write(&g, func() { l.set(0, 4) })
	assert.Nil(t, l.closed.Load())
}

// The reader that is overtaken by writes between its question and the answer
// gets the view that the first of them has closed.
func TestListReaderOvertakenByWrites(t *testing.T) {
	var g gate
	l := newList[int, int](&g)
	write(&g, func() { l.insert(1, 1) })

	l.readers.Add(1)
	want := l.ask()
	write(&g, func() { l.set(0, 2) })
	write(&g, func() { l.set(0, 3) })
	assert.Equal(t, []int{1}, contents(l.answer(want)))
	l.readers.Add(-1)

	assert.Equal(t, []int{3}, contents(l.snapshot()))
}

// Two readers that ask one after the other, with a write in between, get two
// views, each the newest at its question.
func TestListReadersOvertakingEachOther(t *testing.T) {
	var g gate
	l := newList[int, int](&g)
	write(&g, func() { l.insert(1, 1) })
	l.readers.Add(2)
	first := l.ask()
	write(&g, func() { l.set(0, 2) })
	second := l.ask()
	assert.Equal(t, []int{2}, contents(l.answer(second)))
	write(&g, func() { l.set(0, 3) })
	assert.Equal(t, []int{2}, contents(l.answer(second)))
	assert.Contains(t, []int{1, 2}, contents(l.answer(first))[0], "not older than its question")
	l.readers.Add(-2)
}

// Every write sets the same number everywhere, in both chunks; a reader must
// never see two numbers, nor a number smaller than before.
func TestListReadersSeeWholeWrites(t *testing.T) {
	const n, writes = 2 * chunkSize, 20_000
	var g gate
	l := newList[int, int](&g)
	write(&g, func() {
		for range n {
			l.insert(0, 0)
		}
	})
	marks := []int{0, chunkSize - 1, chunkSize, n - 1}
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for seen := 0; !done.Load(); {
				v := l.snapshot()
				for _, pos := range marks {
					got := v.chunks[pos/chunkSize].items[pos%chunkSize]
					if pos == 0 && got < seen || pos > 0 && got != seen {
						t.Errorf("position %d shows %d, seen before %d", pos, got, seen)
						return
					}
					seen = got
				}
			}
		})
	}
	for i := range writes {
		write(&g, func() {
			for _, pos := range marks {
				l.set(pos, i)
			}
		})
	}
	done.Store(true)
	readers.Wait()
}

// A reader that comes in the middle of a write waits for its end.
func TestListReaderWaitsForTheWriteInProgress(t *testing.T) {
	var g gate
	l := newList[int, int](&g)
	got := make(chan []int)
	g.enter()
	l.insert(1, 1)
	go func() { got <- contents(l.snapshot()) }()
	for l.wanted.Load() == 0 { // until it has asked
		runtime.Gosched()
	}
	l.insert(2, 2)
	g.leave()
	assert.Equal(t, []int{1, 2}, <-got)
}

func TestGateMoves(t *testing.T) {
	var g gate
	number := g.pass()
	assert.True(t, g.unmoved(number))
	g.enter()
	assert.False(t, g.unmoved(number))
	assert.False(t, g.unmoved(g.number.Load()), "in the middle of a write nothing is unmoved")
	g.leave()
	assert.False(t, g.unmoved(number))
	assert.True(t, g.unmoved(g.pass()))
}

// A read of several lists is done again when a write came in between, and when
// that happens again and again the writers have to wait for once.
func TestAtOneMoment(t *testing.T) {
	x := New(Config[string]{KeyFunc: func(s string) (string, error) { return s, nil }})
	g := x.generation.Load()

	reads := 0
	x.atOneMoment(g, func() { reads++ })
	assert.Equal(t, 1, reads)

	reads = 0
	x.atOneMoment(g, func() {
		if reads++; reads == 1 {
			write(g.gate, func() {})
		}
	})
	assert.Equal(t, 2, reads)

	reads = 0
	x.atOneMoment(g, func() {
		reads++
		if x.mu.TryLock() { // nobody keeps the writer out
			write(g.gate, func() {})
			x.mu.Unlock()
			return
		}
		assert.Equal(t, 6, reads)
	})
	assert.Equal(t, 6, reads)
}
