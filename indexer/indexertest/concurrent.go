package indexertest

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
)

// whileReading runs write, and meanwhile each of the readers in a loop, at least once after write
// has returned. A reader returns a description of the inconsistency that it saw, or "".
func whileReading(t *testing.T, write func(), readers ...func() string) {
	t.Helper()
	done := make(chan struct{})
	var group sync.WaitGroup
	for _, read := range readers {
		group.Go(func() {
			for last := false; !last; {
				select {
				case <-done:
					last = true
				default:
				}
				if wrong := read(); wrong != "" {
					t.Errorf("want every read to show one state, got a read that does not: %s", wrong)
					return
				}
				runtime.Gosched() // one processor is enough for all
			}
		})
	}
	defer group.Wait()
	defer close(done) // even if write ends the test
	write()
}

// testStaircase: the writer updates all objects in order, round after round, so the number of
// updates determines the content. That number never decreases between two reads. A List must show
// the objects up to some point in one round and the rest in the previous round.
func testStaircase(t *testing.T, impl Implementation) {
	const n, rounds = 300, 8
	x := impl.empty()
	require.NoError(t, x.Replace(series("a", n, "0"), "0"))

	// steps returns the number of updates that a list shows, or -1 for an inconsistent list.
	steps := func(objects []*Object) int {
		if len(objects) != n || slices.Contains(objects, nil) {
			return -1
		}
		slices.SortFunc(objects, func(a, b *Object) int { return strings.Compare(a.Name, b.Name) })
		first, _ := strconv.Atoi(objects[0].Version)
		done := 0
		for i, o := range objects {
			switch o.Version {
			case strconv.Itoa(first):
				if done != i {
					return -1
				}
				done = i + 1
			case strconv.Itoa(first - 1):
			default:
				return -1
			}
		}
		return (first-1)*n + done
	}
	reader := func() func() string {
		seen := -n // before the zeroth round
		advance := func(what string, now int) string {
			if now < 0 {
				return what + " shows objects that were never in the store together"
			}
			if now < seen {
				return fmt.Sprintf("%s shows %d updates, a read before showed %d", what, now, seen)
			}
			seen = now
			return ""
		}
		return func() string {
			if wrong := advance("List", steps(x.List())); wrong != "" {
				return wrong
			}
			byIndex, _ := x.ByIndex("namespace", "a")
			if wrong := advance("ByIndex", steps(byIndex)); wrong != "" {
				return wrong
			}
			// A point read shows at least this many updates; if the previous read showed more, it
			// must show this one.
			for _, i := range []int{0, 137, n - 1} {
				o, exists := x.GetByKey(fmt.Sprintf("a/o%05d", i))
				if !exists || o == nil {
					return fmt.Sprintf("GetByKey does not find object %d", i)
				}
				round, _ := strconv.Atoi(o.Version)
				atLeast, atMost := (round-1)*n+i+1, round*n+i
				if atMost < seen {
					return fmt.Sprintf("GetByKey shows at most %d updates, a read before showed %d", atMost, seen)
				}
				seen = max(seen, atLeast)
			}
			return ""
		}
	}
	whileReading(t, func() {
		for round := 1; round <= rounds; round++ {
			for i, o := range series("a", n, strconv.Itoa(round)) {
				require.NoError(t, x.Update(o))
				if i%50 == 0 { // the writer reads its own writes
					want := (round-1)*n + i + 1
					assert.Equal(t, want, steps(x.List()))
					byIndex, _ := x.ByIndex("namespace", "a")
					assert.Equal(t, want, steps(byIndex))
					got, _ := x.GetByKey(o.Key())
					assert.Same(t, o, got)
				}
			}
		}
	}, reader(), reader(), reader())
}

// testWindow: objects come and go in order, each one added before the oldest is deleted. So the
// store always holds a contiguous range of width or width+1 numbers, and each node has one object.
func testWindow(t *testing.T, impl Implementation) {
	const width, writes = 260, 1000
	object := func(i int) *Object { return pod("a", strconv.Itoa(i), strconv.Itoa(i)) }
	x := impl.empty()
	for i := range width {
		require.NoError(t, x.Add(object(i)))
	}
	contiguous := func(what string, texts []string) string {
		numbers := []int{}
		for _, text := range texts {
			number, _ := strconv.Atoi(text)
			numbers = append(numbers, number)
		}
		if len(numbers) != width && len(numbers) != width+1 {
			return fmt.Sprintf("%s: %d objects", what, len(numbers))
		}
		slices.Sort(numbers)
		if span := numbers[len(numbers)-1] - numbers[0] + 1; span != len(numbers) ||
			len(slices.Compact(numbers)) != span {
			return fmt.Sprintf("%s: %d objects over a range of %d", what, len(numbers), span)
		}
		return ""
	}
	nodes := func(objects []*Object) []string {
		all := []string{}
		for _, o := range objects {
			if o == nil {
				return nil // an index has a key that the store does not have: contiguous reports the number
			}
			all = append(all, o.Node)
		}
		return all
	}
	whileReading(t, func() {
		for i := range writes {
			require.NoError(t, x.Add(object(width+i)))
			if i%2 == 0 {
				x.DeleteKey(object(i).Key())
			} else {
				require.NoError(t, x.Delete(object(i)))
			}
		}
	},
		func() string { return contiguous("List", nodes(x.List())) },
		func() string { return contiguous("ListIndexFuncValues", x.ListIndexFuncValues("node")) },
		func() string {
			found, _ := x.ByIndex("namespace", "a")
			return contiguous("ByIndex", nodes(found))
		},
		func() string {
			if n := x.Len(); n < width || n > width+1 {
				return fmt.Sprintf("Len: %d", n)
			}
			return ""
		})
}

// testReplaceIsAtomic: every list shows the content of one Replace. Some objects let the readers
// run while the store computes their index values, or a Replace could be over before any of them
// reads.
func testReplaceIsAtomic(t *testing.T, impl Implementation) {
	const rounds = 60
	x := impl.New(indexer.Config[*Object]{KeyFunc: KeyFunc,
		Indexers: indexer.Indexers[*Object]{"namespace": func(o *Object) ([]string, error) {
			if strings.HasSuffix(o.Name, "50") {
				runtime.Gosched()
			}
			return ByNamespace(o)
		}}})
	replace := func(round int) {
		n := 100 + 150*(round%3)
		require.NoError(t, x.Replace(series("a", n, strconv.Itoa(round)), strconv.Itoa(round)))
	}
	replace(0)
	whole := func(what string, objects []*Object) string {
		if len(objects) == 0 || slices.Contains(objects, nil) {
			return fmt.Sprintf("%s: want the objects of one round, got %v", what, objects)
		}
		round, _ := strconv.Atoi(objects[0].Version)
		if len(objects) != 100+150*(round%3) {
			return fmt.Sprintf("%s: %d objects in round %d", what, len(objects), round)
		}
		for _, o := range objects {
			if o.Version != objects[0].Version {
				return fmt.Sprintf("%s: rounds %s and %s in one list", what, o.Version, objects[0].Version)
			}
		}
		return ""
	}
	whileReading(t, func() {
		for round := 1; round <= rounds; round++ {
			replace(round)
			list := x.List()
			require.NotEmpty(t, list, "List after Replace")
			require.NotContains(t, list, (*Object)(nil), "List after Replace")
			assert.Equal(t, strconv.Itoa(round), list[0].Version)
		}
	},
		func() string { return whole("List", x.List()) },
		func() string {
			found, _ := x.ByIndex("namespace", "a")
			return whole("ByIndex", found)
		})
}

// testMovingObject: the object always has one of two labels. A read of both labels finds it once,
// and a read by key finds it. Other labels lie between the two, which leaves time for a move
// between the two lookups.
func testMovingObject(t *testing.T, impl Implementation) {
	const moves, others = 1500, 40
	x := impl.empty()
	labels := []string{"left"}
	for i := range others {
		label := fmt.Sprintf("other-%d", i)
		labels = append(labels, label)
		require.NoError(t, x.Add(pod("a", label, "", label)))
	}
	labels = append(labels, "right")
	move := func(label string) {
		require.NoError(t, x.Update(pod("a", "mover", "", label)))
	}
	move("left")
	whileReading(t, func() {
		for i := range moves {
			label := []string{"right", "left"}[i%2]
			move(label)
			found, _ := x.ByIndex("label", label)
			assert.Len(t, found, 1, "ByIndex finds an object by its new value")
		}
	},
		func() string {
			found, err := x.Index("label", pod("", "anything", "", labels...))
			if err != nil || len(found) != others+1 {
				return fmt.Sprintf("Index with %d values of one object each finds %d objects, %v", others+1,
					len(found), err)
			}
			return ""
		},
		func() string {
			if values := x.ListIndexFuncValues("label"); len(values) != others+1 {
				return fmt.Sprintf("ListIndexFuncValues shows half of a write: %q", values)
			}
			return ""
		},
		func() string {
			if _, exists := x.GetByKey("a/mover"); !exists {
				return "GetByKey does not find an object while it is updated"
			}
			return ""
		})
}

// testSeveralWriters: each writer has its own keys, and they share the buckets.
func testSeveralWriters(t *testing.T, impl Implementation) {
	x := impl.empty()
	var left []*Object
	whileReading(t, func() { left = whileWriting(t, x, 300, func() {}) }, func() string {
		x.List()
		_, _ = x.ByIndex("node", "n1")
		return ""
	})
	assertHolds(t, x, left...)
}

// testOneKey: goroutines add and delete one key. In any order the store has at most one object, and
// all reads agree.
func testOneKey(t *testing.T, impl Implementation) {
	const writers, writes = 8, 2000
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		x := impl.empty()
		whileReading(t, func() {
			var group sync.WaitGroup
			for w := range writers {
				group.Go(func() {
					for i := range writes {
						o := pod("a", "one", fmt.Sprint("n", w%3), fmt.Sprint("l", i%2), "all")
						if (w+i)%2 == 0 {
							assert.NoError(t, x.Add(o))
						} else {
							assert.NoError(t, x.Delete(o))
						}
					}
				})
			}
			group.Wait()
		}, func() string {
			if n := len(x.List()); n > 1 {
				return fmt.Sprintf("List shows %d objects of one key", n)
			}
			return ""
		})
		assertConsistent(t, x)
		require.NoError(t, x.Add(pod("a", "one", "n1", "all")))
		require.Len(t, x.List(), 1, "an update was lost: one key has several objects")
		x.DeleteKey("a/one")
		require.Empty(t, x.List(), "an update was lost: an object remains after its deletion")
		assertConsistent(t, x)
		if t.Failed() {
			t.Logf("round %d", round)
			return
		}
	}
}

// whileWriting runs do, and meanwhile three writers, each with n keys of its own. It returns the
// objects that the writers have left in the store.
func whileWriting(t *testing.T, x Indexer, n int, do func()) []*Object {
	stop := make(chan struct{})
	left := make([][]*Object, 3)
	var group sync.WaitGroup
	for w := range left {
		group.Go(func() { left[w] = rewrite(t, x, n, fmt.Sprint("w", w), stop) })
	}
	func() {
		defer group.Wait() // even if do ends the test
		defer close(stop)
		do()
	}()
	return slices.Concat(left...)
}

// rewrite moves, adds and deletes n objects until stop is closed, at least four times each, and
// returns those that are left.
func rewrite(t *testing.T, x Indexer, n int, writer string, stop <-chan struct{}) []*Object {
	left := map[string]*Object{}
	for i := 0; ; i++ {
		round := i / n // moves each object to another label and operation
		o := pod(writer, fmt.Sprint("o", i%n), fmt.Sprint("n", i%7), fmt.Sprint("l", (i+round)%5))
		if (i+round)%4 == 3 {
			x.DeleteKey(o.Key())
			delete(left, o.Key())
		} else {
			assert.NoError(t, x.Add(o))
			left[o.Key()] = o
		}
		select {
		case <-stop:
			if i >= 4*n {
				return slices.Collect(maps.Values(left))
			}
		default:
		}
	}
}

// yielding returns f with a yield of the processor, so that other writers overtake unless the store
// excludes them while it calls f.
func yielding(f indexer.IndexFunc[*Object]) indexer.IndexFunc[*Object] {
	return func(o *Object) ([]string, error) {
		runtime.Gosched()
		return f(o)
	}
}

// testAddIndexersWhileWriting: a new index shows all objects, whether they were written before,
// after or during AddIndexers.
func testAddIndexersWhileWriting(t *testing.T, impl Implementation) {
	for range 10 {
		x := impl.New(indexer.Config[*Object]{KeyFunc: KeyFunc,
			Indexers: indexer.Indexers[*Object]{"namespace": ByNamespace}})
		for i := range 300 {
			require.NoError(t, x.Add(pod(fmt.Sprint("w", i%3), fmt.Sprint("o", i/3), "first", "first")))
		}
		var left []*Object
		whileReading(t, func() {
			left = whileWriting(t, x, 100, func() {
				require.NoError(t, x.AddIndexers(indexer.Indexers[*Object]{"node": yielding(ByNode)}))
				require.NoError(t, x.AddIndexers(indexer.Indexers[*Object]{"label": yielding(ByLabel)}))
			})
		}, func() string {
			_, err := x.Index("namespace", pod("w1", "asks", ""))
			if n := len(x.GetIndexers()); err != nil || n == 0 {
				return fmt.Sprintf("Index returns %v, GetIndexers %d functions", err, n)
			}
			return ""
		})
		assert.Len(t, x.GetIndexers(), 3)
		assertHolds(t, x, left...)
	}
}

// testReplaceWhileWriting: after concurrent Replace calls and writes, the indexes match the
// objects.
func testReplaceWhileWriting(t *testing.T, impl Implementation) {
	for round := range 10 {
		x := impl.empty()
		whileWriting(t, x, 50, func() {
			for range 5 {
				require.NoError(t, x.Replace(series("w1", 40, "1"), fmt.Sprint(round)))
			}
		})
		assertConsistent(t, x)
	}
}

// testSlowIndexFunction: readers continue while a write calls an index function.
func testSlowIndexFunction(t *testing.T, impl Implementation) {
	if !impl.has(ReadersDoNotWait) {
		return
	}
	var x Indexer
	slow := func(o *Object) ([]string, error) {
		if o.Name == "slow" {
			inTime(t, "readers wait for an index function", func() {
				_, _ = x.ByIndex("namespace", "a")
				x.GetByKey("a/other")
				assert.Len(t, x.List(), 1, "a reader sees the object before its write has ended")
			})
		}
		return nil, nil
	}
	x = impl.New(indexer.Config[*Object]{KeyFunc: KeyFunc,
		Indexers: indexer.Indexers[*Object]{"namespace": ByNamespace, "slow": slow}})
	require.NoError(t, x.Add(pod("a", "other", "")))
	require.NoError(t, x.Add(pod("a", "slow", "")))
	assert.Len(t, x.List(), 2)
}
