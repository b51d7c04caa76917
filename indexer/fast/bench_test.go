package fast_test

import (
	"fmt"
	"sync"
	"testing"

	"orrery/indexer"
	"orrery/indexer/fast"
	"orrery/indexer/indexertest"
)

// The size of the store in these benchmarks, and of a namespace in it.
const (
	many         = 100_000
	perNamespace = 1_000
)

// pods returns objects spread over namespaces of equal size.
func pods(n int) []*indexertest.Object {
	all := make([]*indexertest.Object, n)
	for i := range all {
		all[i] = &indexertest.Object{
			Namespace: fmt.Sprintf("namespace-%03d", i/perNamespace),
			Name:      fmt.Sprintf("web-7c5ddbdf54-%05d", i),
			Node:      fmt.Sprintf("node-%d", i%200),
		}
	}
	return all
}

// scattered returns distant indexes for adjacent i, as events do.
func scattered(i int) int { return i * 7919 % many }

func filled(b *testing.B, indexers indexer.Indexers[*indexertest.Object]) (*fast.Indexer[*indexertest.Object], []*indexertest.Object) {
	b.Helper()
	x := fast.New(indexer.Config[*indexertest.Object]{KeyFunc: indexertest.KeyFunc, Indexers: indexers})
	all := pods(many)
	if err := x.Replace(all, "1"); err != nil {
		b.Fatal(err)
	}
	return x, all
}

var byNamespace = indexer.Indexers[*indexertest.Object]{"namespace": indexertest.ByNamespace}

func BenchmarkUpdate(b *testing.B) {
	inOrder := func(i int) int { return i % many }
	for _, c := range []struct {
		name     string
		indexers indexer.Indexers[*indexertest.Object]
		visit    func(int) int
	}{
		{"no index", nil, inOrder},
		{"namespace", byNamespace, inOrder},
		{"namespace and node", indexer.Indexers[*indexertest.Object]{"namespace": indexertest.ByNamespace, "node": indexertest.ByNode}, inOrder},
		// The share of memory: every object, key and record is a cache miss.
		{"namespace, scattered", byNamespace, scattered},
	} {
		b.Run(c.name, func(b *testing.B) {
			x, all := filled(b, c.indexers)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				_ = x.Update(all[c.visit(i)])
			}
		})
	}
}

func BenchmarkAddNew(b *testing.B) {
	all := pods(many)
	x := fast.New(indexer.Config[*indexertest.Object]{KeyFunc: indexertest.KeyFunc, Indexers: byNamespace})
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i == many {
			b.StopTimer()
			_ = x.Replace(nil, "")
			i = 0
			b.StartTimer()
		}
		_ = x.Add(all[i])
		i++
	}
}

func BenchmarkGetByKey(b *testing.B) {
	x, _ := filled(b, byNamespace)
	keys := x.ListKeys()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		i := 0
		for pb.Next() {
			i++
			x.GetByKey(keys[scattered(i)])
		}
	})
}

func BenchmarkByIndex1000(b *testing.B) {
	x, _ := filled(b, byNamespace)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = x.ByIndex("namespace", "namespace-042")
	}
}

func BenchmarkIndexKeys1000(b *testing.B) {
	x, _ := filled(b, byNamespace)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = x.IndexKeys("namespace", "namespace-042")
	}
}

func BenchmarkList100k(b *testing.B) {
	x, _ := filled(b, byNamespace)
	b.ReportAllocs()
	for b.Loop() {
		x.List()
	}
}

func BenchmarkAll100k(b *testing.B) {
	x, _ := filled(b, byNamespace)
	b.ReportAllocs()
	for b.Loop() {
		for range x.All() {
		}
	}
}

func BenchmarkReplace100k(b *testing.B) {
	x, all := filled(b, byNamespace)
	b.ReportAllocs()
	for b.Loop() {
		_ = x.Replace(all, "2")
	}
}

// BenchmarkSeam measures the cost of a call through indexer.Interface over one of the concrete
// type, with a small store, so that waiting for memory does not hide it.
func BenchmarkSeam(b *testing.B) {
	x := fast.New(indexer.Config[*indexertest.Object]{KeyFunc: indexertest.KeyFunc})
	web := &indexertest.Object{Name: "web"}
	var seam indexer.Interface[*indexertest.Object] = x
	if b.N < 0 {
		seam = indexer.New(indexer.Config[*indexertest.Object]{KeyFunc: indexertest.KeyFunc}) // hides the type from the compiler
	}
	b.Run("Put/concrete", func(b *testing.B) {
		for b.Loop() {
			_, _, _ = x.Put("web", web)
		}
	})
	b.Run("Put/interface", func(b *testing.B) {
		for b.Loop() {
			_, _, _ = seam.Put("web", web)
		}
	})
	b.Run("GetByKey/concrete", func(b *testing.B) {
		for b.Loop() {
			x.GetByKey("web")
		}
	})
	b.Run("GetByKey/interface", func(b *testing.B) {
		for b.Loop() {
			seam.GetByKey("web")
		}
	})
}

// BenchmarkWritesWhileReadersList measures the purpose of this store: the writes per second while
// readers list everything in a loop. Compare with the textbook form, maps under one RWMutex.
func BenchmarkWritesWhileReadersList(b *testing.B) {
	stores := map[string]func() indexertest.Indexer{
		"fast": func() indexertest.Indexer {
			return fast.New(indexer.Config[*indexertest.Object]{KeyFunc: indexertest.KeyFunc, Indexers: byNamespace})
		},
		"textbook": func() indexertest.Indexer {
			return indexer.New(indexer.Config[*indexertest.Object]{KeyFunc: indexertest.KeyFunc, Indexers: byNamespace})
		},
	}
	for _, name := range []string{"fast", "textbook"} {
		for _, readers := range []int{0, 1, 4, 16} {
			b.Run(fmt.Sprintf("%s/%d readers", name, readers), func(b *testing.B) {
				writesWhileReadersList(b, stores[name](), readers)
			})
		}
	}
}

func writesWhileReadersList(b *testing.B, x indexertest.Indexer, readers int) {
	all := pods(many)
	if err := x.Replace(all, "1"); err != nil {
		b.Fatal(err)
	}
	stop := make(chan struct{})
	lists := make([]int, readers)
	var wg sync.WaitGroup
	for r := range readers {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					x.List()
					lists[r]++
				}
			}
		})
	}
	i := 0
	for b.Loop() {
		i++
		_ = x.Update(all[scattered(i)])
	}
	elapsed := b.Elapsed().Seconds()
	close(stop)
	wg.Wait()
	total := 0
	for _, n := range lists {
		total += n
	}
	b.ReportMetric(float64(b.N)/elapsed, "writes/s")
	b.ReportMetric(float64(total)/elapsed, "lists/s")
}
