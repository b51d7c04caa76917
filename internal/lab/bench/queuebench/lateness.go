package queuebench

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/histogram"
	"orrery/internal/lab/bench/load"
)

const (
	latenessDelay = time.Millisecond
	// latenessPause lets everybody fall asleep before the next key.
	latenessPause = 500 * time.Microsecond
)

// Lateness is how long after its time a delayed key comes, in a program that has nothing else to do: AddAfter with one
// millisecond while a worker sleeps in Get, four hundred times, one after the other, with a pause before each. It is
// taken in the worker, when Get returns, against the time at which AddAfter was called plus one millisecond. Proven is
// that each key came, and that none came early. Equal on both sides: worker, delays, pauses.
//
// Every queue depends on a timer of Go's, which sleeps in milliseconds, and which the kernel may let sleep 50
// microseconds longer; a mere time.Sleep of one millisecond is late by three quarters of what is measured here for
// client-go. What this project's queue saves is the way from the timer to the worker, by a goroutine and two channels.
func Lateness(ctx context.Context, subject Subject, effort bench.Effort, meter *bench.Meter) (bench.Outcome, error) {
	n := effort.Of(400, 80)
	keys := load.NewKeys(n, load.Uniform, 1).All()
	q := subject.New(Options{})
	g := watch(ctx, q, meter)
	defer g.Close()
	meter.Begin("waiting for delays", "keys", 0, int64(n))

	late := lateness(g, keys)
	var h histogram.Histogram
	early := 0
	for _, d := range late {
		if d < 0 {
			early++
		}
		h.Record(d)
	}
	return bench.Outcome{
			Figures: map[string]float64{"p50": float64(h.Quantile(0.5)), "p99": float64(h.Quantile(0.99))},
			Proof:   fmt.Sprintf("%d keys came, none early", n),
		}, cmp.Or(
			ctx.Err(),
			bench.Prove("keys that came", n, len(late)),
			bench.Prove("keys that came early", 0, early),
			bench.Prove("keys left", 0, q.Len()),
		)
}

// arrival is a key that the worker got, and when.
type arrival struct {
	key string
	at  time.Time
}

// lateness returns how late each of the keys came.
func lateness(g *guard, keys []string) (late []time.Duration) {
	arrivals := make(chan arrival)
	var worker sync.WaitGroup
	worker.Go(func() {
		defer close(arrivals)
		for {
			key, shutdown := g.q.Get()
			at := time.Now()
			if shutdown {
				return
			}
			g.q.Done(key)
			arrivals <- arrival{key, at}
		}
	})
	for _, key := range keys {
		time.Sleep(latenessPause)
		due := time.Now().Add(latenessDelay)
		g.q.AddAfter(key, latenessDelay)
		a, ok := <-arrivals
		if !ok || a.key != key {
			break
		}
		late = append(late, a.at.Sub(due))
		g.Moved(1)
	}
	g.ShutDown()
	for range arrivals { // a key that came twice
		late = nil
	}
	worker.Wait()
	return late
}
