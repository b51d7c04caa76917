package indexertest

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
)

// testSeveralWriters: each writer has its own keys, and they share the buckets.
func testSeveralWriters(t *testing.T, impl Implementation) {
	const writers, n = 4, 200
	x := impl.empty()
	want := make([][]*Object, writers)
	whileReading(t, func() {
		var group sync.WaitGroup
		for w := range writers {
			group.Go(func() {
				for i := range n {
					name := fmt.Sprintf("w%d-%d", w, i)
					assert.NoError(t, x.Add(pod("a", name, "n1", "x")))
					final := pod("a", name, fmt.Sprintf("n%d", i%7), "y")
					assert.NoError(t, x.Update(final))
					if i%3 == 0 {
						assert.NoError(t, x.Delete(final))
					} else {
						want[w] = append(want[w], final)
					}
				}
			})
		}
		group.Wait()
	}, func() string {
		x.List()
		_, _ = x.ByIndex("node", "n1")
		return ""
	})
	all := slices.Concat(want...)
	assertContent(t, x, all...)
	assertIndexed(t, x, "namespace", map[string][]string{"a": names(all)})
	assertIndexed(t, x, "label", map[string][]string{"y": names(all)})
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

// rewrite moves, adds and deletes objects until stop is closed, at least once each.
func rewrite(t *testing.T, x Indexer, n int, writer string, stop <-chan struct{}) {
	for i := 0; ; i++ {
		o := pod(writer, fmt.Sprint("o", i%n), fmt.Sprint("n", i%7), fmt.Sprint("l", i%5))
		if i%4 == 3 {
			x.DeleteKey(o.Key())
		} else {
			assert.NoError(t, x.Add(o))
		}
		select {
		case <-stop:
			if i >= n {
				return
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
		x := impl.New(indexer.Config[*Object]{KeyFunc: KeyFunc, Indexers: indexer.Indexers[*Object]{"namespace": ByNamespace}})
		for i := range 300 {
			require.NoError(t, x.Add(pod(fmt.Sprint("w", i%3), fmt.Sprint("o", i/3), "first", "first")))
		}
		stop := make(chan struct{})
		var group sync.WaitGroup
		for w := range 3 {
			group.Go(func() { rewrite(t, x, 100, fmt.Sprint("w", w), stop) })
		}
		whileReading(t, func() {
			require.NoError(t, x.AddIndexers(indexer.Indexers[*Object]{"node": yielding(ByNode)}))
			require.NoError(t, x.AddIndexers(indexer.Indexers[*Object]{"label": yielding(ByLabel)}))
		}, func() string {
			_, err := x.Index("namespace", pod("w1", "asks", ""))
			if n := len(x.GetIndexers()); err != nil || n == 0 {
				return fmt.Sprintf("Index returns %v, GetIndexers %d functions", err, n)
			}
			return ""
		})
		close(stop)
		group.Wait()
		assert.Len(t, x.GetIndexers(), 3)
		assertConsistent(t, x)
	}
}

// testReplaceWhileWriting: after concurrent Replace calls and writes, the indexes match the
// objects.
func testReplaceWhileWriting(t *testing.T, impl Implementation) {
	for round := range 10 {
		x := impl.empty()
		stop := make(chan struct{})
		var group sync.WaitGroup
		for w := range 3 {
			group.Go(func() { rewrite(t, x, 50, fmt.Sprint("w", w), stop) })
		}
		for range 5 {
			require.NoError(t, x.Replace(series("w1", 40, "1"), fmt.Sprint(round)))
		}
		close(stop)
		group.Wait()
		assertConsistent(t, x)
	}
}

// testSlowIndexFunction: readers continue while a write calls an index function. Without
// ReadersDoNotWait they wait for the write.
func testSlowIndexFunction(t *testing.T, impl Implementation) {
	var x Indexer
	read := make(chan int, 1)
	slow := func(o *Object) ([]string, error) {
		if o.Name != "slow" {
			return nil, nil
		}
		go func() {
			_, _ = x.ByIndex("namespace", "a")
			x.GetByKey("a/other")
			read <- len(x.List())
		}()
		if impl.has(ReadersDoNotWait) {
			select {
			case n := <-read:
				assert.Equal(t, 1, n, "a reader sees the object before its write has ended")
				read <- 2
			case <-time.After(20 * time.Second):
				assert.Fail(t, "readers wait for an index function")
			}
			return nil, nil
		}
		for range 100 {
			runtime.Gosched()
			assert.Empty(t, read, "readers do not wait for an index function: the store has ReadersDoNotWait")
		}
		return nil, nil
	}
	x = impl.New(indexer.Config[*Object]{KeyFunc: KeyFunc, Indexers: indexer.Indexers[*Object]{"namespace": ByNamespace, "slow": slow}})
	require.NoError(t, x.Add(pod("a", "other", "")))
	require.NoError(t, x.Add(pod("a", "slow", "")))
	assert.Equal(t, 2, <-read)
}
