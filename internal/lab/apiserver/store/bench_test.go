package store

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

const benchObjects = 100000

// largeDraft is a ConfigMap with 1 KiB of data and the metadata that kube-apiserver adds.
func largeDraft(i int, value string) Draft {
	return Draft{Object: &api.Unstructured{Object: map[string]any{
		"metadata": map[string]any{
			"name": fmt.Sprintf("config-%06d", i), "namespace": "bench", "uid": fmt.Sprintf("00000000-0000-4000-8000-%012d", i),
			"creationTimestamp": "2026-01-01T00:00:00Z", "labels": map[string]any{"app": "bench"},
		},
		"data": map[string]any{"value": value},
	}}}
}

func fill(b testing.TB, c *Collection, n int) {
	value := strings.Repeat("x", 1024)
	for i := range n {
		_, err := c.Create(largeDraft(i, value), nil)
		require.NoError(b, err)
	}
}

// residentMemory returns the resident memory of the process in MiB.
func residentMemory(b testing.TB) float64 {
	status, err := os.ReadFile("/proc/self/statm")
	require.NoError(b, err)
	pages, err := strconv.Atoi(strings.Fields(string(status))[1])
	require.NoError(b, err)
	return float64(pages*os.Getpagesize()) / (1 << 20)
}

// BenchmarkFill stores 100,000 ConfigMaps of 1 KiB and reports the heap and the resident memory.
func BenchmarkFill(b *testing.B) {
	for range b.N {
		s := New(Config{})
		fill(b, s.Collection(configMaps), benchObjects)
		b.ReportMetric(residentMemory(b), "RSS-MiB")
		runtime.GC()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		b.ReportMetric(float64(memory.HeapAlloc)/(1<<20), "heap-MiB")
		runtime.KeepAlive(s)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchObjects), "ns/write")
}

// BenchmarkList reads 100,000 objects like a list: in pages of 500, copying their bytes.
func BenchmarkList(b *testing.B) {
	c := New(Config{}).Collection(configMaps)
	fill(b, c, benchObjects)
	page := make([]byte, 0, 1<<20)
	for b.Loop() {
		first, err := c.View(0)
		require.NoError(b, err)
		count := 0
		for after := (Key{}); ; {
			v, err := c.View(first.Version())
			require.NoError(b, err)
			page = page[:0]
			n := 0
			v.Ascend("bench", after, func(o *Object) bool {
				page, after = o.AppendJSON(page, "v1", "ConfigMap"), o.Key
				n++
				return n < 500
			})
			count += n
			if v.LenAfter("bench", after) == 0 {
				break
			}
		}
		require.Equal(b, benchObjects, count)
	}
}

// BenchmarkViewOfThePast rebuilds a state by undoing a full window.
func BenchmarkViewOfThePast(b *testing.B) {
	s := New(Config{})
	c := s.Collection(configMaps)
	fill(b, c, benchObjects)
	oldest := s.Snapshot().Collections[0].Oldest
	for b.Loop() {
		c.trees = nil
		_, err := c.View(oldest)
		require.NoError(b, err)
	}
}

func BenchmarkGet(b *testing.B) {
	c := New(Config{}).Collection(configMaps)
	fill(b, c, benchObjects)
	key := Key{"bench", "config-054321"}
	b.ReportAllocs()
	for b.Loop() {
		c.Get(key)
	}
}

// BenchmarkReplace writes 1 KiB: once alone, and once with a list between any two writes, which
// makes the writer copy nodes of the tree.
func BenchmarkReplace(b *testing.B) {
	for _, lists := range []bool{false, true} {
		b.Run(fmt.Sprintf("lists=%t", lists), func(b *testing.B) {
			c := New(Config{}).Collection(configMaps)
			fill(b, c, benchObjects)
			drafts := [2]Draft{largeDraft(54321, strings.Repeat("y", 1024)), largeDraft(54321, strings.Repeat("z", 1024))}
			o, _ := c.Get(Key{"bench", "config-054321"})
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if lists {
					_, err := c.View(0)
					require.NoError(b, err)
				}
				o, _, _ = c.Replace(o, drafts[i%2], nil)
				i++
			}
		})
	}
}

// BenchmarkFanOut measures a write until 200 watchers have seen it.
func BenchmarkFanOut(b *testing.B) {
	const watchers = 200
	s := New(Config{})
	c := s.Collection(configMaps)
	fill(b, c, 1)
	drafts := [2]Draft{largeDraft(0, "y"), largeDraft(0, "z")}
	var group sync.WaitGroup
	last := s.Version() + uint64(b.N)
	for range watchers {
		cursor, err := c.Watch(s.Version())
		require.NoError(b, err)
		group.Go(func() {
			for version, _ := cursor.Progress(); version < last; {
				events, err := cursor.Next(b.Context())
				if err != nil {
					return
				}
				version = events[len(events)-1].Version()
			}
		})
	}
	o, _ := c.Get(Key{"bench", "config-000000"})
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		o, _, _ = c.Replace(o, drafts[i%2], nil)
	}
	group.Wait()
}

// BenchmarkTrace measures the cost of unset hooks.
func BenchmarkTrace(b *testing.B) {
	for name, trace := range map[string]*Trace{"nil": nil, "empty": {}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				trace.committed(configMaps, Event{})
				trace.expired(ErrDropped)
				trace.rebuilt(configMaps, 1, 1)
			}
		})
	}
}

func TestHooksThatAreNotSetAllocateNothing(t *testing.T) {
	for _, trace := range []*Trace{nil, {}} {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			trace.committed(configMaps, Event{})
			trace.expired(ErrDropped)
			trace.rebuilt(configMaps, 1, 1)
			trace.compacted(1)
			trace.dropped(configMaps)
		}))
	}
}
