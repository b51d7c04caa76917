package scenes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"orrery/controller/gears"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/story"
	"orrery/queue"
	"orrery/wait"
)

const (
	hotKey     = "team-3"
	addsInPass = 100 // while a worker holds hotKey
	addEvery   = 25 * time.Millisecond
	oneKeyPool = 3 // workers
)

var oneKey = Scene{
	Name:    "one-key",
	Summary: "a key is added a hundred times while a worker holds it: one more pass",
	Happens: "Three workers share a work queue. While one of them holds team-3, the key is added a hundred times.",
	Look:    "Watch the key in dirty, queue and processing, and the two idle workers.",
	Lesson: display.Lesson{
		Learnt: []string{
			"A hundred Adds during a pass cause one more pass: the first marks the key dirty, and the others find it dirty.",
			"A key that a worker holds is not queued, so no second worker gets it. Done queues it if it is dirty.",
			"Get takes the key off dirty before the pass. A change that comes during the pass marks it again and is not lost.",
			"Different keys go to different workers at the same time.",
		},
		Read: []display.Reading{
			{Gear: "queue", Form: gears.Textbook, File: "queue/queue.go", Why: "dirty, processing and queue: Add, Get and Done"},
			{Gear: "queue", Form: gears.Fast, File: "queue/fast/queue.go", Why: "the same three sets as one record for each key"},
			{File: "queue/queuetest/base.go", Why: "the same as tests"},
			{File: "workshop/labs/08-work-queue/README.md", Why: "the lab in which you write this queue"},
		},
	},
	workers: oneKeyPool,
	alone:   playOneKey,
	guided: guided{
		happens: "A controller of configmaps has three workers. While one of them reconciles red, red is updated a hundred times.",
		look:    "Watch red in dirty, queue and processing, and the two idle workers.",
		play:    guidedOneKey,
	},
}

func playOneKey(ctx context.Context, teller *story.Teller, set *Gears) error {
	sets := newKeySets(teller)
	pool := &heldPool{
		teller: teller, queue: set.NewQueue(nil, queue.Config[string]{Trace: sets.trace()}),
		holds: make([]string, oneKeyPool), most: map[string]int{}, endPass: make(chan struct{}),
	}
	defer pool.start(ctx)()
	awaitPass := func(n int) error {
		return soon(ctx, teller, fmt.Sprintf("pass %d over %s", n, hotKey), func(*story.State) bool {
			return sets.passes[hotKey] == n && pool.busy(hotKey) == 1
		})
	}
	others := []string{"team-1", "team-2", "team-4"}
	return inOrder(
		func() error {
			enter(teller, "the first pass", "a worker holds "+hotKey+"; a pass lasts until the script ends it (artificial)")
			pool.queue.Add(hotKey)
			return awaitPass(1)
		},
		func() error { return wait.Sleep(ctx, 2*look) },
		func() error {
			enter(teller, "a hundred Adds during the pass", "the script calls Add("+hotKey+") a hundred times while a worker holds the key")
			for range addsInPass {
				pool.queue.Add(hotKey)
				if err := wait.Sleep(ctx, addEvery); err != nil {
					return err
				}
			}
			teller.Update(func(s *story.State) {
				s.Tell(story.Worker, "after %d Adds, %d of %d workers holds %s", 1+addsInPass, pool.busy(hotKey), oneKeyPool, hotKey)
			})
			return wait.Sleep(ctx, look)
		},
		func() error {
			enter(teller, "one more pass", "the pass ends: Done queues the key if it is dirty")
			return pool.end(ctx, 1)
		},
		func() error { return awaitPass(2) },
		func() error { return wait.Sleep(ctx, 2*look) },
		func() error { return pool.end(ctx, 1) },
		func() error { return pool.awaitBusy(ctx, 0) },
		func() error { return wait.Sleep(ctx, look) },
		func() error {
			enter(teller, "three keys", "for comparison: one Add each of three different keys")
			for _, key := range others {
				pool.queue.Add(key)
			}
			return pool.awaitBusy(ctx, len(others))
		},
		func() error { return wait.Sleep(ctx, 2*look) },
		func() error { return pool.end(ctx, len(others)) },
		func() error { return pool.awaitBusy(ctx, 0) },
		func() (err error) {
			teller.Update(func(s *story.State) {
				s.Figure("Adds of "+hotKey, "%d, of which %d found it dirty", 1+addsInPass, sets.coalesced)
				s.Figure("passes over "+hotKey, "%d", sets.passes[hotKey])
				s.Figure("workers at once", "%d with %s, %d with three different keys", pool.most[hotKey], hotKey, pool.most[""])
				err = cmp.Or(
					bench.Prove("Adds that found the key dirty", addsInPass-1, sets.coalesced),
					bench.Prove("passes over "+hotKey, 2, sets.passes[hotKey]),
					bench.Prove("workers that held "+hotKey+" at once", 1, pool.most[hotKey]),
					bench.Prove("workers that held three different keys", len(others), pool.most[""]),
				)
			})
			return err
		},
	)
}

// heldPool is a pool of workers whose passes last until the script ends them.
type heldPool struct {
	teller  *story.Teller
	queue   queue.Interface[string]
	endPass chan struct{}

	// Guarded by the teller's lock.
	holds []string       // the key of each worker, "" of an idle one
	most  map[string]int // the most workers that held a key at once; "" is any key
}

// start starts the workers. stop ends them and returns when they have ended.
func (p *heldPool) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var workers wait.Group
	for i := range p.holds {
		workers.Start(func() { p.work(ctx, i) })
	}
	return func() {
		cancel()
		p.queue.ShutDown()
		workers.Wait()
	}
}

func (p *heldPool) work(ctx context.Context, number int) {
	p.hold(number, "")
	for {
		key, shutdown := p.queue.Get()
		if shutdown {
			return
		}
		p.hold(number, key)
		select {
		case <-p.endPass:
		case <-ctx.Done():
		}
		p.hold(number, "")
		p.queue.Done(key)
	}
}

// hold records the key that a worker holds.
func (p *heldPool) hold(number int, key string) {
	p.teller.Update(func(s *story.State) {
		p.holds[number] = key
		p.most[key] = max(p.most[key], p.busy(key))
		p.most[""] = max(p.most[""], p.busy(""))
		words := make([]string, len(p.holds))
		for i, held := range p.holds {
			words[i] = fmt.Sprintf("%d: %-8s", i+1, cmp.Or(held, "idle"))
		}
		s.Show("workers", "%s", strings.Join(words, ""))
	})
}

// busy returns the number of workers that hold a key; "" is any key.
func (p *heldPool) busy(key string) int {
	n := 0
	for _, held := range p.holds {
		if held != "" && (key == "" || held == key) {
			n++
		}
	}
	return n
}

func (p *heldPool) awaitBusy(ctx context.Context, workers int) error {
	return soon(ctx, p.teller, fmt.Sprintf("%d busy workers", workers), func(*story.State) bool { return p.busy("") == workers })
}

// end ends the passes of this many workers.
func (p *heldPool) end(ctx context.Context, workers int) error {
	for range workers {
		select {
		case p.endPass <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// keySets shows the three sets of a work queue and tells its events, both from its hooks.
type keySets struct {
	teller *story.Teller

	// Guarded by the teller's lock.
	dirty, queued, processing []string
	coalesced                 int
	passes                    map[string]int
	next                      uint64            // the number of the next event
	early                     map[uint64]func() // events that came before their turn
}

func newKeySets(teller *story.Teller) *keySets {
	return &keySets{teller: teller, next: 1, passes: map[string]int{}, early: map[uint64]func(){}}
}

// trace returns the hooks of a queue without delays.
func (k *keySets) trace() *queue.Trace[string] {
	return &queue.Trace[string]{
		Added:     func(e queue.Event[string]) { k.happened(e, k.added) },
		Coalesced: func(e queue.Event[string]) { k.happened(e, k.found) },
		Got:       func(e queue.Event[string], _ time.Duration) { k.happened(e, k.got) },
		Done:      func(e queue.Event[string], _ time.Duration) { k.happened(e, k.done) },
	}
}

// happened applies the events in their order: callbacks of different goroutines may come out of
// order.
func (k *keySets) happened(e queue.Event[string], apply func(s *story.State, key string)) {
	k.teller.Update(func(s *story.State) {
		k.early[e.Seq] = func() { apply(s, e.Key) }
		for ; k.early[k.next] != nil; k.next++ {
			k.early[k.next]()
			delete(k.early, k.next)
		}
		s.Show("dirty", "%s", strings.Join(k.dirty, "  "))
		s.Show("queue", "%s", strings.Join(k.queued, "  "))
		s.Show("processing", "%s", strings.Join(k.processing, "  "))
		s.Show("coalesced", "%d", k.coalesced)
	})
}

func (k *keySets) added(s *story.State, key string) {
	k.dirty = append(k.dirty, key)
	if slices.Contains(k.processing, key) {
		s.Tell(story.Queue, "Add(%s): it is dirty now; a worker holds it, so it is not queued", key)
		return
	}
	k.queued = append(k.queued, key)
	s.Tell(story.Queue, "Add(%s): it is dirty now, and queued", key)
}

func (k *keySets) found(s *story.State, key string) {
	k.coalesced++
	if k.coalesced == 1 {
		s.Tell(story.Queue, "Add(%s): it is dirty already, so nothing changes (coalesced)", key)
	}
}

func (k *keySets) got(s *story.State, key string) {
	k.passes[key]++
	k.dirty, k.queued = without(k.dirty, key), without(k.queued, key)
	k.processing = append(k.processing, key)
	s.Tell(story.Queue, "Get returns %s: it is processing now, and no longer dirty", key)
}

func (k *keySets) done(s *story.State, key string) {
	k.processing = without(k.processing, key)
	if slices.Contains(k.dirty, key) {
		k.queued = append(k.queued, key)
		s.Tell(story.Queue, "Done(%s): it is dirty, so it is queued", key)
		return
	}
	s.Tell(story.Queue, "Done(%s): it is not dirty, so the queue forgets it", key)
}

func without(keys []string, key string) []string {
	return slices.DeleteFunc(keys, func(other string) bool { return other == key })
}
