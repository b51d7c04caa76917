package fast_test

import (
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"orrery/deltafifo"
	"orrery/deltafifo/fast"
)

type pod struct {
	key string
	rv  int
}

func podKey(p *pod) (string, error) { return p.key, nil }

func pods(n int) []*pod {
	out := make([]*pod, n)
	for i := range out {
		out[i] = &pod{key: "namespace-" + strconv.Itoa(i%100) + "/pod-" + strconv.Itoa(i), rv: i}
	}
	return out
}

// knownPods is a cheap store that never changes.
type knownPods map[string]*pod

func (k knownPods) ListKeys() []string {
	keys := make([]string, 0, len(k))
	for key := range k {
		keys = append(keys, key)
	}
	return keys
}

func (k knownPods) GetByKey(key string) (*pod, bool) {
	p, ok := k[key]
	return p, ok
}

func nothing(string, deltafifo.Deltas[*pod], bool) error { return nil }

func BenchmarkAddPop(b *testing.B) {
	for _, depth := range []int{1, 1000} {
		b.Run("depth="+strconv.Itoa(depth), func(b *testing.B) {
			all := pods(depth)
			f := fast.New(deltafifo.Config[*pod]{KeyFunc: podKey})
			for _, p := range all[1:] {
				_ = f.Add(p)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				_ = f.Add(all[i])
				_, _ = f.Pop(nothing)
				if i++; i == depth {
					i = 0
				}
			}
		})
	}
}

// BenchmarkAddWhilePopping has one goroutine that adds and another that pops, as in an informer. No
// waiting key is added again, so that nothing is merged and each Add costs a Pop; the clock stops
// after the last Pop. backlog bounds how far the consumer may fall behind: a long one exceeds the
// caches.
func BenchmarkAddWhilePopping(b *testing.B) {
	for _, backlog := range []int{1_000, 100_000} {
		b.Run("backlog="+strconv.Itoa(backlog), func(b *testing.B) {
			all := pods(backlog)
			f := fast.New(deltafifo.Config[*pod]{KeyFunc: podKey})
			var popped atomic.Int64
			done := make(chan struct{})
			b.ReportAllocs()
			b.ResetTimer()
			go func() {
				defer close(done)
				for {
					if _, err := f.Pop(nothing); err != nil {
						return
					}
					popped.Add(1)
				}
			}()
			for i := range b.N {
				for i-int(popped.Load()) >= backlog {
					runtime.Gosched()
				}
				_ = f.Add(all[i%backlog])
			}
			f.Close()
			<-done
			if int(popped.Load()) != b.N {
				b.Fatalf("%d adds, %d pops", b.N, popped.Load())
			}
		})
	}
}

// BenchmarkReplaceKnown relists 100,000 known objects. "longest-add-ms" is the longest concurrent
// Add, which is how long the lock was held (and how busy the machine is).
func BenchmarkReplaceKnown(b *testing.B) {
	all := pods(100_000)
	known := knownPods{}
	for _, p := range all {
		known[p.key] = p
	}
	var longest time.Duration
	for b.Loop() {
		b.StopTimer()
		f := fast.New(deltafifo.Config[*pod]{KeyFunc: podKey, KnownObjects: known})
		_ = f.Add(&pod{key: "first"})
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			p := &pod{key: "other"}
			for {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				_ = f.Add(p)
				longest = max(longest, time.Since(began))
				time.Sleep(50 * time.Microsecond)
			}
		}()
		b.StartTimer()
		_ = f.Replace(all, "1")
		b.StopTimer()
		close(stop)
		<-stopped
		b.StartTimer()
	}
	b.ReportMetric(float64(longest.Microseconds())/1000, "longest-add-ms")
}

func BenchmarkResync(b *testing.B) {
	known := knownPods{}
	for _, p := range pods(100_000) {
		known[p.key] = p
	}
	for b.Loop() {
		f := fast.New(deltafifo.Config[*pod]{KeyFunc: podKey, KnownObjects: known})
		_ = f.Resync()
	}
}
