package workloads

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
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

// addPop adds objects in one goroutine and pops them in another. The keys repeat after 10,000
// events and at most 1,000 events are in flight, so no key waits twice, nothing is merged, and each
// Add costs a Pop. Time runs from the first Add to the last object handed out.
//
// Both sides get the same ready-made objects and compute keys with their own key function. A
// producer that is ahead waits, with the same code, until half of the events in flight have
// arrived. Our consumer takes batches of up to 64 keys, as RealFIFO does and DeltaFIFO does not;
// each key is handed out by itself. Proven: every object was handed out once, in order.
func (g FIFOGear[T]) addPop(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	const (
		keys    = 10_000
		backlog = 1000
	)
	events, warmUp := effort.Of(500_000, 100_000), effort.Of(50_000, 20_000)
	objects := g.All(MakePods(keys, 100))
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
				return ctx.Err()
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

// relist calls Replace with a list of 100,000 objects while the store knows 100,000, of which
// 99,000 are listed: 1,000 objects are new and 1,000 have vanished. "ms" is the duration of
// Replace. Meanwhile another goroutine adds an object every 200 us, as a watch would; "lock-ms" is
// the longest of its calls. Each side has its own store behind its queue, filled with the same
// objects. Proven: every listed object was handed out once, every vanished one as a deletion with
// the state from the store, and everything that the other goroutine added.
func (g FIFOGear[T]) relist(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
	rounds := effort.Of(3, 2)
	all := MakePods(relistKnown+relistVanished, 101)
	known := g.All(all[:relistKnown])
	listed := make([]T, 0, relistKnown)
	for _, p := range all[relistVanished:] {
		listed = append(listed, g.New(p.As(p.Number+int64(len(all)))))
	}

	// The other goroutine's object has the key of the first vanished one, so the list does not
	// delete that one.
	other := g.New(all[relistVanished].As(bystander))
	var took, waited []float64 // milliseconds
	for range rounds {
		r := relisting[T]{gear: g, known: known, listed: listed, other: other}
		if err := r.run(ctx); err != nil {
			return bench.Outcome{}, err
		}
		took, waited = append(took, milliseconds(r.took)), append(waited, milliseconds(r.waited))
	}
	return bench.Outcome{
		Figures: map[string]float64{"ms": bench.Median(took), "lock-ms": bench.Median(waited)},
		Proof: fmt.Sprintf("a list of %d objects against a store of %d: "+
			"%d objects and %d deletions popped, concurrent events included",
			len(listed), len(known), len(listed), relistVanished),
	}, nil
}

// relisting is one relist.
type relisting[T any] struct {
	gear          FIFOGear[T]
	known, listed []T
	other         T // added by the other goroutine

	took   time.Duration // by Replace
	waited time.Duration // longest concurrent Add
}

// bystander is the number of the object that the other goroutine adds.
const bystander = -1

func (r *relisting[T]) run(ctx context.Context) error {
	queue, err := r.gear.NewQueue(r.known)
	if err != nil {
		return err
	}
	if err := queue.Add(r.other); err != nil {
		return err
	}
	runtime.GC() // collect the garbage of earlier rounds

	stop, stopped := make(chan struct{}), make(chan error, 1)
	added := 1
	go func() { stopped <- r.addUntil(ctx, stop, queue, &added) }()
	began := time.Now()
	err = queue.Replace(r.listed, "2")
	r.took = time.Since(began)
	close(stop)
	for _, e := range []error{<-stopped, ctx.Err()} {
		if err == nil {
			err = e
		}
	}
	if err != nil {
		queue.Close()
		return err
	}
	return r.prove(queue, added)
}

// addUntil adds objects until stop is closed. It does not use a ticker, whose resolution of a
// millisecond would miss shorter locks.
func (r *relisting[T]) addUntil(ctx context.Context, stop <-chan struct{}, queue FIFO[T], added *int) error {
	const rate = 5000 // per second
	pacer := bench.NewPacer(time.Now(), rate)
	for i := 1; ; i++ {
		began := time.Now()
		if err := queue.Add(r.other); err != nil {
			return err
		}
		r.waited = max(r.waited, time.Since(began))
		*added++
		pacer.Wait(ctx, i)
		select {
		case <-stop:
			return nil
		default:
		}
	}
}

// prove drains the queue and checks its content.
func (r *relisting[T]) prove(queue FIFO[T], added int) error {
	bystanders, deleted := 0, 0
	states := len(r.known) + relistVanished
	seen := make([]bool, 2*states)
	var wrong error
	c := consume(queue, func(obj T, gone bool) {
		number := r.gear.Number(obj)
		switch {
		case number == bystander && !gone:
			bystanders++
			return
		case number < 0 || number >= int64(len(seen)) || seen[number]:
			wrong = &bench.ProofError{What: "objects handed out once", Want: "each", Got: number}
			return
		case gone != (number < relistVanished):
			wrong = &bench.ProofError{What: "deletion of a vanished object", Want: number < relistVanished, Got: gone}
		}
		seen[number] = true
		if gone {
			deleted++
		}
	})
	err := c.finish()
	missing := slices.Index(seen[states+relistVanished:], false)
	return cmp.Or(
		err,
		wrong,
		bench.Prove("the first listed object that was not handed out (-1: none)", -1, missing),
		bench.Prove("deletions handed out", relistVanished, deleted),
		bench.Prove("objects of the other goroutine handed out", added, bystanders),
	)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
