package workloads

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"time"

	"orrery/internal/lab/bench"
)

// Scenarios returns the pieces of work of the comparison.
func (g FIFOGear[T]) Scenarios() []bench.Scenario {
	all := []bench.Scenario{{Name: "fifo/add-pop", Run: g.addPop}}
	if !g.NoRelist {
		all = append(all, bench.Scenario{Name: "fifo/relist", Run: g.relist})
	}
	return all
}

// fifoLimit is how long addPop may take. It is long enough that only a queue that lost an event
// exceeds it, however busy the machine is.
var fifoLimit = 2 * time.Minute

// addPop adds objects in one goroutine and pops them in another. No key waits twice, so nothing is
// merged, and each Add costs a Pop. Time runs from the first Add to the last object handed out. A
// producer that is ahead waits, with the same code on both sides, until half of the events in
// flight have arrived.
func (g FIFOGear[T]) addPop(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	const (
		keys    = 10_000
		backlog = 1000
	)
	events, warmUp := effort.Of(500_000, 100_000), effort.Of(50_000, 20_000)
	objects := g.All(MakePods(keys, 100))
	lost := &bench.ProofError{What: "events handed out", Want: "all", Got: "too few within " + fifoLimit.String()}
	ctx, cancel := context.WithTimeoutCause(ctx, fifoLimit, lost)
	defer cancel()
	queue, err := g.NewQueue(nil)
	if err != nil {
		return bench.Outcome{}, err
	}

	next, wrong := int64(0), error(nil)
	c := consume(queue, func(obj T, _ bool) {
		if got := g.Number(obj); got != next%keys && wrong == nil {
			wrong = &bench.ProofError{What: "number of the object handed out", Want: next % keys, Got: got}
		}
		next++
	})
	makeRoom := c.bounded(backlog)
	add := func(from, to int) error {
		for i := from; i < to; i++ {
			if err := makeRoom(ctx, i); err != nil {
				return err
			}
			if err := queue.Add(objects[i%keys]); err != nil {
				return err
			}
			if i%1024 == 1023 && ctx.Err() != nil { // a consumer that keeps up never makes add wait
				return context.Cause(ctx)
			}
		}
		return c.waitFor(ctx, int64(to))
	}

	err = add(0, warmUp)
	var usage bench.Usage
	if err == nil {
		usage = bench.Measure(func() { err = add(warmUp, warmUp+events) })
	}
	err = cmp.Or(err, c.finish())
	err = cmp.Or(err, wrong, bench.Prove("objects handed out", int64(warmUp+events), next))
	return bench.Outcome{
		Figures: usage.PerOp(events),
		Proof:   fmt.Sprintf("%d objects added by one goroutine and popped by another, once each and in order", events),
	}, err
}

// relistKnown is the number of objects in the store. Tests use fewer.
var relistKnown = 100_000

// relistVanished of them are missing from the list.
const relistVanished = 1000

// relist calls Replace with a list of as many objects as the store knows, of which 1,000 are new
// and 1,000 have vanished. "ms" is the duration of Replace. Meanwhile another goroutine adds an
// object every 200 us, as a watch would; "lock-ms" is the longest of its calls.
func (g FIFOGear[T]) relist(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	all := MakePods(relistKnown+relistVanished, 101)
	known := g.All(all[:relistKnown])
	listed := make([]T, 0, relistKnown)
	for _, p := range all[relistVanished:] {
		listed = append(listed, g.New(p.As(p.Number+int64(len(all)))))
	}
	// The other goroutine's object is one that is listed, so the list does not delete it.
	other := g.New(all[relistVanished].As(bystander))
	var took, waited []float64 // milliseconds
	for range effort.Of(3, 2) {
		replace, wait, err := g.relistOnce(ctx, known, listed, other)
		if err != nil {
			return bench.Outcome{}, err
		}
		took, waited = append(took, milliseconds(replace)), append(waited, milliseconds(wait))
	}
	return bench.Outcome{
		Figures: map[string]float64{"ms": bench.Median(took), "lock-ms": bench.Median(waited)},
		Proof: fmt.Sprintf("a list of %d objects against a store of %d: "+
			"%d objects and %d deletions popped, concurrent events included",
			len(listed), len(known), len(listed), relistVanished),
	}, nil
}

// bystander is the number of the object that the other goroutine adds.
const bystander = -1

// relistOnce returns how long Replace took, and how long the slowest Add beside it.
func (g FIFOGear[T]) relistOnce(
	ctx context.Context, known, listed []T, other T,
) (took, waited time.Duration, err error) {
	queue, err := g.NewQueue(known)
	if err != nil {
		return 0, 0, err
	}
	if err := queue.Add(other); err != nil {
		return 0, 0, err
	}
	runtime.GC() // collect the garbage of earlier rounds

	stop, stopped := make(chan struct{}), make(chan error, 1)
	added := 1
	go func() {
		const rate = 5000 // per second
		pacer := bench.NewPacer(time.Now(), rate)
		for err := error(nil); ; { // without a ticker, whose resolution of a millisecond would miss shorter locks
			began := time.Now()
			err = cmp.Or(err, queue.Add(other))
			waited = max(waited, time.Since(began))
			pacer.Wait(ctx, added)
			added++
			select {
			case <-stop:
				stopped <- err
				return
			default:
			}
		}
	}()
	began := time.Now()
	err = queue.Replace(listed, "2")
	took = time.Since(began)
	close(stop)
	if err := cmp.Or(<-stopped, ctx.Err(), err); err != nil {
		queue.Close()
		return 0, 0, err
	}
	return took, waited, g.proveRelist(queue, len(known), added)
}

// proveRelist drains the queue and checks its content: every listed object was handed out once,
// every vanished one as a deletion with the state from the store, and everything that the other
// goroutine added.
func (g FIFOGear[T]) proveRelist(queue FIFO[T], known, added int) error {
	states := int64(known + relistVanished)
	seen := make(map[int64]bool)
	all, bystanders, deleted, listed := 0, 0, 0, 0
	c := consume(queue, func(obj T, gone bool) {
		number := g.Number(obj)
		switch {
		case number == bystander && !gone:
			bystanders++
		case seen[number]:
		case gone && number >= 0 && number < relistVanished:
			deleted++
		case !gone && number >= states+relistVanished && number < 2*states:
			listed++
		}
		seen[number] = true
		all++
	})
	err := c.finish()
	return cmp.Or(
		err,
		bench.Prove("listed objects handed out", known, listed),
		bench.Prove("deletions handed out", relistVanished, deleted),
		bench.Prove("objects of the other goroutine handed out", added, bystanders),
		bench.Prove("objects handed out", known+relistVanished+added, all),
	)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
