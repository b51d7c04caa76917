package scenes

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"orrery/controller/gears"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/demo/display"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/stage"
	"orrery/internal/lab/demo/story"
	"orrery/queue"
	"orrery/wait"
)

// The rate limiter of the namespace controller, and how often each key fails before it recovers.
const (
	firstDelay   = 5 * time.Millisecond
	longestDelay = time.Minute
	failuresEach = 10
)

// The keys of the scene.
const (
	withForget    = "blog"
	withoutForget = "shop"
	healthy       = "docs"
)

var backOff = Scene{
	Name:    "back-off",
	Summary: "two keys fail, recover, and fail again; Forget is called for one of them",
	Happens: "The passes of blog and shop fail ten times and then succeed. The worker calls Forget for blog only: the mistake of this scene. Later both fail once more.",
	Look:    "Watch the delay of each key run down, and which delay the eleventh failure gets.",
	Lesson: display.Lesson{
		Learnt: []string{
			"Back-off is state of a key: a limiter counts the failures of each key, and each failure doubles the delay of that key alone. Other keys go on.",
			"Forget sets the count to 0. Without it a key that has recovered still has its failures, and its next failure waits as if it had never recovered.",
			"A delayed key is not queued and no worker holds it. It costs an entry in a heap, and all keys share one timer.",
		},
		Read: []display.Reading{
			{File: "queue/ratelimiters.go", Why: "When and Forget: how long a failed key is delayed"},
			{Gear: "queue", Form: gears.Textbook, File: "queue/delaying.go", Why: "AddAfter: a heap of deadlines and one timer"},
			{Gear: "queue", Form: gears.Fast, File: "queue/fast/delaying.go", Why: "AddAfter: a heap of deadlines and one timer"},
			{File: "nsctl/controller.go", Why: "a worker that calls AddRateLimited, Forget and Done"},
			{File: "workshop/labs/09-delays/README.md", Why: "the lab in which you write the delays and the limiters"},
		},
	},
	Options: stage.Options{Unused: []gate.ID{gate.G1}}, // its one object does not change
	workers: 1,
	alone:   playBackOff,
	guided: guided{
		happens: "A controller of configmaps reconciles web. The server answers six reads with 500, so six passes fail; the seventh succeeds.",
		look:    "Watch the delay of web run down. It doubles with each failure.",
		play:    guidedBackOff,
	},
}

func playBackOff(ctx context.Context, teller *story.Teller, set *Gears) error {
	b := &failing{teller: teller, keys: map[string]*failingKey{}}
	for _, name := range []string{withForget, withoutForget, healthy} {
		b.keys[name] = &failingKey{}
	}
	limiter := queue.NewItemExponentialFailureRateLimiter[string](firstDelay, longestDelay)
	b.queue = set.NewQueue(limiter, queue.Config[string]{Trace: b.trace()})
	defer b.start(ctx)()
	recovered := func() error {
		return soon(ctx, teller, "a pass over both keys that succeeds", func(*story.State) bool { return b.keys[withForget].fails < 0 && b.keys[withoutForget].fails < 0 })
	}
	return inOrder(
		func() error {
			enter(teller, "ten failures", "each failure doubles the delay of its key; docs never fails")
			b.fail(failuresEach)
			return recovered()
		},
		func() error { return wait.Sleep(ctx, look) },
		func() error {
			enter(teller, "the eleventh failure", "both keys have recovered, and each fails once more")
			b.fail(1)
			return recovered()
		},
		func() (err error) {
			teller.Update(func(s *story.State) { err = b.conclude(s) })
			return err
		},
	)
}

// failing has keys whose passes fail.
type failing struct {
	teller *story.Teller
	queue  queue.RateLimitingInterface[string]
	keys   map[string]*failingKey // the values are guarded by the teller's lock
}

type failingKey struct {
	fails  int // how many of the next passes fail; -1 after one that succeeded
	passes int
	delays []time.Duration
	wait   story.Wait // the present delay
}

// trace returns the hooks that tell the delays.
func (b *failing) trace() *queue.Trace[string] {
	return &queue.Trace[string]{
		Retried: func(name string, failures int, delay time.Duration) {
			b.teller.Update(func(s *story.State) {
				b.keys[name].delays = append(b.keys[name].delays, delay)
				s.Tell(story.Queue, "AddRateLimited(%s): failure %d, retry in %v", name, failures, delay)
			})
		},
		Delayed: func(e queue.Event[string], delay time.Duration) {
			b.teller.Update(func(s *story.State) { b.keys[e.Key].wait = story.Wait{Until: s.Elapsed + delay, Long: delay} })
		},
		Forgotten: func(name string) {
			if name != healthy {
				b.teller.Tell(story.Queue, "Forget(%s): its next failure is failure 1", name)
			}
		},
	}
}

// start starts a worker, the Adds of the healthy key, and the countdowns. stop ends them and
// returns when they have ended.
func (b *failing) start(ctx context.Context) (stop func()) {
	const often, countdown = 500 * time.Millisecond, 50 * time.Millisecond
	ctx, cancel := context.WithCancel(ctx)
	var running wait.Group
	running.Start(b.work)
	running.Start(func() { wait.UntilWithContext(ctx, func(context.Context) { b.queue.Add(healthy) }, often) })
	running.Start(func() { wait.UntilWithContext(ctx, func(context.Context) { b.teller.Update(b.show) }, countdown) })
	return func() {
		cancel()
		b.queue.ShutDown()
		running.Wait()
	}
}

// work is a worker with one mistake: it calls Forget for every key but withoutForget.
func (b *failing) work() {
	for {
		name, shutdown := b.queue.Get()
		if shutdown {
			return
		}
		failed := false
		b.teller.Update(func(s *story.State) {
			key := b.keys[name]
			key.passes++
			key.fails--
			failed = key.fails >= 0
			if !failed && name != healthy {
				s.Tell(story.Worker, "%s: the pass succeeds", name)
			}
		})
		switch {
		case failed:
			b.queue.AddRateLimited(name)
		case name != withoutForget:
			b.queue.Forget(name)
		}
		b.queue.Done(name)
	}
}

// fail lets this many passes of both keys fail, beginning now.
func (b *failing) fail(times int) {
	for _, name := range []string{withForget, withoutForget} {
		b.teller.Update(func(*story.State) { b.keys[name].fails = times })
		b.queue.Add(name)
	}
}

// show draws the countdowns.
func (b *failing) show(s *story.State) {
	const width = 24
	for _, name := range []string{withForget, withoutForget} {
		key := b.keys[name]
		left := max(0, key.wait.Until-s.Elapsed)
		s.Show(name, "%s %5.2f s of %-6v %2d passes, %2d failures", story.Bar(int(left), int(key.wait.Long), width),
			left.Seconds(), key.wait.Long, key.passes, b.queue.NumRequeues(name))
	}
	s.Show(healthy, "%s %5.2f s of %-6v %2d passes, %2d failures", story.Bar(0, 1, width), 0.0, "0s", b.keys[healthy].passes, b.queue.NumRequeues(healthy))
}

// conclude shows the figures.
func (b *failing) conclude(s *story.State) error {
	var doubled []time.Duration
	for n := range failuresEach {
		doubled = append(doubled, firstDelay<<n)
	}
	want := map[string][]time.Duration{withForget: append(doubled[:failuresEach:failuresEach], firstDelay), withoutForget: append(doubled, firstDelay<<failuresEach)}
	var err error
	for _, name := range []string{withForget, withoutForget} {
		texts := strings.Fields(strings.Trim(fmt.Sprint(b.keys[name].delays), "[]"))
		last := len(texts) - 1
		s.Figure("delays of "+name, "%s; after it had recovered: %s", strings.Join(texts[:last], ", "), texts[last])
		err = cmp.Or(err, bench.Prove("delays of "+name, fmt.Sprint(want[name]), fmt.Sprint(b.keys[name].delays)))
	}
	s.Figure("passes over "+healthy, "%d meanwhile, without a delay", b.keys[healthy].passes)
	return cmp.Or(err, bench.Prove("delays of "+healthy, 0, len(b.keys[healthy].delays)))
}
