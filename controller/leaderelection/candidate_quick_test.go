package leaderelection

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/restclient/api"
)

// Three replicas for a quarter of an hour, with message loss and delay, with processes that are
// stopped, killed and terminated, and with clocks that are days apart, the fastest running 1.4
// times as fast as the slowest: no two work at a time, and one renews the Lease.
func TestNoTwoLeadAtATime(t *testing.T) {
	var wins, renewals, releases, lost int
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(1, 1.4)
		w := newWorld(rapid.Uint64().Draw(t, "seed"), rate.Draw(t, "a"), rate.Draw(t, "b"), rate.Draw(t, "c"))
		w.run(15 * time.Minute)
		require.NotNil(t, w.lease)
		version := w.lease.ResourceVersion
		w.run(25 * time.Minute)
		require.Empty(t, w.violations)
		require.NotEqual(t, version, w.lease.ResourceVersion, "the Lease has not been written for ten minutes")
		wins, renewals, releases, lost = wins+w.wins, renewals+w.renewals, releases+w.releases, lost+w.lost
	})
	t.Logf("%d terms, %d renewals, %d releases, %d terms lost", wins, renewals, releases, lost)
	for _, count := range []int{wins, renewals, releases, lost} {
		assert.NotZero(t, count, "the seeds never reached this case")
	}
}

// A fixed example of what the random test finds now and then. The server stores a write at once,
// and its answer comes fourteen seconds later, as to a process that was stopped meanwhile. The
// others have seen the write since it was stored, so the lease counts from before it was sent.
func TestALeaseCountsFromBeforeItsWriteWasSent(t *testing.T) {
	at := func(d time.Duration) moment { return moment{local: d, wall: time.Unix(1, 0).Add(d)} }
	timing := Timing{}.withDefaults()
	for _, renewing := range []bool{false, true} {
		a, b := candidate{identity: "a", timing: timing}, candidate{identity: "b", timing: timing}
		if renewing {
			a.won(a.renewal(at(-time.Second)), -time.Second, at(-time.Second))
		}
		write := a.begin(at(0))
		if !renewing {
			write = a.answer(write, granted, &api.Lease{}, 0, at(0))
		}
		require.Equal(t, update, write.kind)
		b.observe(write.lease, at(0))
		a.answer(write, granted, write.lease, 0, at(14*time.Second))
		require.True(t, a.leading)
		ends := a.renewed + timing.RenewDeadline
		assert.Less(t, ends, b.expiry(), "two leaders: a works until %v, and b begins", ends)
		assert.Equal(t, 10*time.Second, ends)
	}
}

// The answer to the write that took the Lease was lost: the next attempt reads our own name.
func TestALostAnswerDoesNotHideTheSilence(t *testing.T) {
	at := func(d time.Duration) moment { return moment{local: d, wall: time.Unix(1, 0).Add(d)} }
	a, b := candidate{identity: "a"}, candidate{identity: "b", timing: Timing{LeaseDuration: 15 * time.Second}}
	lease := a.renewal(at(0))
	for _, reply := range []replyKind{failed, granted} {
		write := b.answer(b.begin(at(time.Hour)), granted, lease, 0, at(time.Hour))
		require.Equal(t, update, write.kind)
		b.answer(write, reply, write.lease, 0, at(time.Hour))
		lease = write.lease
	}
	assert.Equal(t, Term{Identity: "b", Transitions: 1, Predecessor: "a", Silent: time.Hour}, b.term)
}

// The guarantee ends where the documentation says: from a rate of 1.5, which is 15 s to 10 s, two
// leaders can overlap. This also shows that the test above can find a violation.
func TestTwoCanLeadWhenOneClockRunsHalfAsFastAgain(t *testing.T) {
	met := 0
	for seed := range uint64(20) {
		w := newWorld(seed, 1, 1.8)
		w.run(time.Hour)
		met += len(w.violations)
	}
	assert.NotZero(t, met)
}

// world simulates a server, candidates with drifting clocks, and a network that delays and loses
// messages. Time is simulated and a seed decides every event, so that a history can be replayed.
type world struct {
	random *rand.Rand
	now    time.Duration
	queue  []event // the next one first

	lease   *api.Lease
	version int

	actors     []*actor
	names      int
	violations []string
	released   map[string]bool // replicas that have ended a release: none of their writes may follow
	wins       int             // terms that began
	renewals   int
	releases   int
	lost       int // terms that ended without a release
}

// actor runs a candidate in that world.
type actor struct {
	world  *world
	c      candidate
	rate   float64 // of its clock: its seconds per second of the world
	offset time.Duration

	pausedUntil time.Duration // the process is stopped
	heardUntil  time.Duration // watch events arrive in order: none before this time
	working     bool
	giving      bool          // terminated: it releases the Lease and does nothing else
	deadline    time.Duration // of the work, by its clock
	attempt     int           // answers of earlier attempts are ignored
	began       time.Duration // of the attempt, by its clock
	generation  int           // of its process, counted from 1
}

type event struct {
	at time.Duration
	do func()
}

func newWorld(seed uint64, rates ...float64) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 1)), released: map[string]bool{}}
	for _, rate := range rates {
		a := &actor{world: w, rate: rate, offset: time.Duration(w.random.Int64N(int64(1000 * time.Hour)))}
		w.actors = append(w.actors, a)
		a.start()
	}
	return w
}

func (w *world) after(d time.Duration, do func()) {
	e := event{w.now + d, do}
	at := sort.Search(len(w.queue), func(i int) bool { return w.queue[i].at > e.at })
	w.queue = slices.Insert(w.queue, at, e)
}

func (w *world) run(until time.Duration) {
	for len(w.queue) > 0 && w.queue[0].at <= until {
		e := w.queue[0]
		w.queue = w.queue[1:]
		w.now = e.at
		e.do()
	}
}

func (w *world) upTo(d time.Duration) time.Duration {
	return time.Duration(w.random.Int64N(int64(d) + 1))
}
func (w *world) oneIn(n int) bool { return w.random.IntN(n) == 0 }

// delay returns the time a message takes: usually short, now and then longer than any deadline.
func (w *world) delay() time.Duration {
	switch {
	case w.oneIn(200):
		return w.upTo(40 * time.Second)
	case w.oneIn(20):
		return w.upTo(4 * time.Second)
	default:
		return w.upTo(20 * time.Millisecond)
	}
}

// serve is the server: it compares resource versions.
func (w *world) serve(r request) (replyKind, *api.Lease) {
	switch {
	case w.oneIn(100):
		return failed, nil
	case r.kind == create && w.lease != nil:
		return conflict, nil
	case r.kind != create && w.lease == nil:
		return notFound, nil
	case r.kind == get:
		return granted, w.lease
	case r.kind == update && r.lease.ResourceVersion != w.lease.ResourceVersion:
		return conflict, nil
	}
	if holder := r.lease.Spec.HolderIdentity; w.released[holder] {
		violation := fmt.Sprintf("at %v the Lease gets the name of %s, which has released it", w.now, holder)
		w.violations = append(w.violations, violation)
	}
	w.version++
	w.lease = r.lease.DeepCopy()
	w.lease.ResourceVersion = strconv.Itoa(w.version)
	for _, a := range w.actors {
		a.hear(w.lease)
	}
	if w.oneIn(300) {
		return failed, nil // the write was stored, and its answer was lost
	}
	return granted, w.lease
}

// start replaces the process with a new one.
func (a *actor) start() {
	a.generation++
	a.world.names++
	a.working, a.giving = false, false
	a.c = candidate{identity: fmt.Sprint("p", a.world.names), name: "orrery", namespace: "kube-system",
		timing: Timing{}.withDefaults()}
	a.soon(a.world.upTo(5*time.Second), a.try)
	a.soon(a.world.upTo(100*time.Second), a.fate)
}

func (a *actor) local() time.Duration {
	return a.offset + time.Duration(float64(a.world.now)*a.rate)
}

func (a *actor) moment() moment {
	return moment{local: a.local(), wall: time.Unix(0, 0).Add(a.local())}
}

// soon calls f in this process after some time of the world, but not while the process is
// stopped, and not after its end.
func (a *actor) soon(d time.Duration, do func()) {
	generation := a.generation
	var when func()
	when = func() {
		switch {
		case a.generation != generation:
		case a.world.now < a.pausedUntil:
			a.world.after(a.pausedUntil-a.world.now+a.world.upTo(time.Second), when)
		default:
			do()
		}
	}
	a.world.after(d, when)
}

// wait calls f after some time of the process's own clock.
func (a *actor) wait(d time.Duration, do func()) {
	a.soon(time.Duration(float64(d)/a.rate)+1, do)
}

// fate stops a process for a while, kills it, or terminates it.
func (a *actor) fate() {
	w := a.world
	switch w.random.IntN(6) {
	case 0, 1, 2:
		a.pausedUntil = w.now + w.upTo(40*time.Second)
	case 3:
		a.working = false // killed
		a.start()
		return
	case 4:
		if a.c.leading && a.alive() {
			a.working, a.giving = false, true
			a.attempt++
			a.send(a.c.give(a.moment()))
			return
		}
	}
	a.soon(w.upTo(100*time.Second), a.fate)
}

// hear delivers watch events: late, in order, sometimes interrupted for long.
func (a *actor) hear(lease *api.Lease) {
	a.heardUntil = max(a.heardUntil, a.world.now+a.world.delay())
	a.soon(a.heardUntil-a.world.now, func() {
		if a.c.leading {
			return
		}
		a.c.observe(lease, a.moment())
		if a.c.mayTake(a.local()) {
			a.try()
		}
	})
}

func (a *actor) try() {
	if a.giving {
		return
	}
	a.attempt++
	a.began = a.local()
	if a.working && !a.alive() {
		a.lose()
		return
	}
	a.send(a.c.begin(a.moment()))
}

// send sends a request. The request and its answer may be delayed or lost.
func (a *actor) send(r request) {
	w, attempt, sent := a.world, a.attempt, a.local()
	answered := false
	reply := func(kind replyKind, lease *api.Lease) {
		if !answered && a.attempt == attempt {
			answered = true
			a.answered(r, kind, lease, sent)
		}
	}
	generation := a.generation
	if !w.oneIn(50) {
		w.after(w.delay(), func() {
			kind, lease := w.serve(r)
			if a.generation == generation && !w.oneIn(50) {
				a.soon(w.delay(), func() { reply(kind, lease) })
			}
		})
	}
	a.wait(a.c.timing.RenewDeadline/2, func() { reply(failed, nil) })
}

func (a *actor) answered(r request, kind replyKind, lease *api.Lease, sent time.Duration) {
	next := a.c.answer(r, kind, lease, sent, a.moment())
	if next.kind != nothing {
		a.send(next)
		return
	}
	switch {
	case r.giving:
		a.world.releases++
		if kind == granted {
			a.world.released[a.c.identity] = true
		}
		a.start()
		return
	case a.working && (!a.c.leading || !a.alive()):
		a.lose()
		return
	case a.c.leading:
		a.work()
		a.wait(max(a.began+a.c.timing.RetryPeriod-a.local(), 0), a.tryUnless(a.attempt))
		return
	}
	pause := a.world.upTo(2*time.Second) + 2*time.Second
	if left := a.c.expiry() - a.local(); left > 0 && a.world.oneIn(2) {
		pause = min(pause, left)
	}
	a.wait(pause, a.tryUnless(a.attempt))
}

// tryUnless tries unless another attempt has begun meanwhile.
func (a *actor) tryUnless(attempt int) func() {
	return func() {
		if a.attempt == attempt {
			a.try()
		}
	}
}

// alive reports whether its work may go on, by its clock.
func (a *actor) alive() bool { return a.working && a.local() < a.deadline || !a.working && a.c.leading }

// work begins to work or goes on. No other replica may work.
func (a *actor) work() {
	w := a.world
	if a.working {
		w.renewals++
	} else {
		w.wins++
	}
	a.working, a.deadline = true, a.c.renewed+a.c.timing.RenewDeadline
	if a.local() >= a.deadline {
		a.lose()
		return
	}
	for _, other := range w.actors {
		if other != a && other.working && other.local() < other.deadline {
			w.violations = append(w.violations, fmt.Sprintf("at %v %s works and so does %s", w.now, a.c.identity,
				other.c.identity))
		}
	}
}

func (a *actor) lose() {
	a.world.lost++
	a.start()
}
