package machine

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/informer/reflector"
)

// apiServer answers a machine correctly about versions, and otherwise with any fault that rapid
// draws.
type apiServer struct {
	version int  // of the newest change
	oldest  int  // the oldest version that a watch may begin at
	streams bool // it supports streaming lists

	position int  // of the open stream
	cut      bool // the stream broke when the server was restored from a backup
	pages    int  // remaining pages of a list
	token    int  // makes continue tokens different
}

// unlucky draws faults; a nil one draws none.
type unlucky func(n int, what string) int

func (u unlucky) oneIn(n int, what string) bool { return u != nil && u(n, what) == 0 }

func (u unlucky) between(low, high int, what string) int {
	if u == nil || high <= low {
		return high
	}
	return low + u(high-low+1, what)
}

var anyCause = []reflector.Cause{reflector.CauseUnknown, reflector.CauseOther, reflector.CauseTooManyRequests,
	reflector.CauseRefused, reflector.CauseInternal, reflector.CauseEnded, reflector.CauseUnreachable}

func (u unlucky) failure(kind inputKind) input {
	return input{kind: kind, cause: anyCause[u.between(0, len(anyCause)-1, "cause")], err: reflector.ErrIdle}
}

// answer returns the outcome of the shell's current operation; ok is false if that has to wait.
func (a *apiServer) answer(d *driver, u unlucky) (in input, ok bool) {
	switch d.operation {
	case effectList:
		return a.list(d.requests[len(d.requests)-1], d.state, u), true
	case effectOpen:
		return a.open(d.requests[len(d.requests)-1], u), true
	case effectRead:
		if a.cut {
			a.cut = false
			return input{kind: inputStreamFailed, cause: reflector.CauseUnreachable, err: reflector.ErrIdle}, true
		}
		if d.state.Phase == phaseStreaming {
			return a.initial(d.state, u), true
		}
		return a.change(u), true
	}
	return input{}, false
}

func (a *apiServer) list(request effect, s state, u unlucky) input {
	asked, _ := strconv.Atoi(request.options.ResourceVersion)
	switch {
	case u.oneIn(6, "list fails"):
		return u.failure(inputListFailed)
	case asked > a.version:
		return input{kind: inputListFailed, cause: reflector.CauseTooLarge, err: reflector.ErrIdle}
	case request.options.Continue != "" && u.oneIn(4, "token expires"):
		return input{kind: inputListFailed, cause: reflector.CauseExpired, err: reflector.ErrIdle}
	}
	if request.options.Continue == "" {
		a.pages = 0
		if request.options.Limit > 0 {
			a.pages = u.between(0, 3, "pages")
		}
		if u == nil {
			a.pages = 1
		}
	}
	in := input{kind: inputPageListed, rv: s.fetched.rv}
	if s.listing.page == 1 {
		// A list at "0" comes from a cache that may be stale; any other is at least as new as
		// requested.
		at := a.version
		if request.options.ResourceVersion != "" {
			at = u.between(max(asked, 1), a.version, "version")
		}
		in.rv = strconv.Itoa(at)
	}
	if a.pages > 0 && request.options.Limit > 0 {
		a.pages--
		a.token++
		in.token = fmt.Sprint("t", a.token)
	}
	return in
}

func (a *apiServer) open(request effect, u unlucky) input {
	asked, _ := strconv.Atoi(request.options.ResourceVersion)
	switch {
	case u.oneIn(6, "open fails"):
		return u.failure(inputOpenFailed)
	case request.options.SendInitialEvents && !a.streams:
		return input{kind: inputOpenFailed, cause: reflector.CauseRefused, err: reflector.ErrIdle}
	case asked > a.version:
		return input{kind: inputOpenFailed, cause: reflector.CauseTooLarge, err: reflector.ErrIdle}
	case asked < a.oldest && asked > 0 && !request.options.SendInitialEvents:
		return input{kind: inputOpenFailed, cause: reflector.CauseExpired, err: reflector.ErrIdle}
	}
	a.position, a.cut = max(asked, a.oldest), false
	return input{kind: inputOpened}
}

// initial returns one of the initial events of a streaming list, or their end.
func (a *apiServer) initial(s state, u unlucky) input {
	asked, _ := strconv.Atoi(s.request.rv)
	switch {
	case u.oneIn(8, "stream fails"):
		return u.failure(inputStreamFailed)
	case u.oneIn(8, "stream ends"):
		return input{kind: inputStreamEnded, err: reflector.ErrIdle}
	case u.oneIn(2, "initial event"):
		return input{kind: inputEvent, added: true, rv: strconv.Itoa(u.between(1, a.version, "version"))}
	}
	a.position = a.version
	if s.request.rv != "" {
		a.position = u.between(max(asked, 1), a.version, "version")
	}
	return input{kind: inputBookmark, initial: true, rv: strconv.Itoa(a.position)}
}

// change returns the next item of a watch: a change, a bookmark, or the end.
func (a *apiServer) change(u unlucky) input {
	switch {
	case u.oneIn(8, "watch fails"):
		return u.failure(inputStreamFailed)
	case u.oneIn(8, "watch ends"):
		return input{kind: inputStreamEnded, err: reflector.ErrIdle}
	case u.oneIn(8, "watch is compacted away"):
		return input{kind: inputStreamFailed, cause: reflector.CauseExpired, err: reflector.ErrIdle}
	case a.position < a.version && u.oneIn(2, "change"):
		a.position++
		return input{kind: inputEvent, rv: strconv.Itoa(a.position)}
	}
	a.position = a.version
	return input{kind: inputBookmark, rv: strconv.Itoa(a.position)}
}

// live changes the state of the server.
func (a *apiServer) live(u unlucky) {
	a.version += u.between(0, 3, "changes")
	switch {
	case u.oneIn(20, "compaction"):
		a.oldest = u.between(a.oldest, a.version, "oldest")
	case u.oneIn(100, "restored from a backup"):
		a.version = u.between(1, a.version, "version")
		a.oldest, a.cut = a.version, true
	}
}

// checkTimers: exactly the timers of the phase are set, and none of them is in the past.
func checkTimers(r *rules, s state, now time.Duration) error {
	want := map[string]bool{
		"back-off": s.Phase == phaseBackingOff,
		"idle":     waits(s.Phase),
		"deadline": s.Phase == phaseOpeningStream || s.Phase == phaseStreaming || s.Phase == phaseListing,
		"resync":   r.resync > 0 && s.Phase != phaseIdle && s.Phase != phaseStopped,
	}
	for name, at := range map[string]time.Duration{
		"back-off": s.timers.backOff, "idle": s.timers.idle, "deadline": s.timers.deadline, "resync": s.timers.resync,
	} {
		if want[name] != (at != never) {
			return fmt.Errorf("%s: the timer %s is set: %v", s.Phase, name, at != never)
		}
		if at < now {
			return fmt.Errorf("%s: the timer %s rang %v ago", s.Phase, name, now-at)
		}
	}
	return nil
}

// checkPosition: the resourceVersion never decreases, unless the server has lost it.
func checkPosition(before, after state) error {
	was, _ := strconv.Atoi(before.ResourceVersion)
	is, _ := strconv.Atoi(after.ResourceVersion)
	if is < was && !before.ResourceVersionRefused {
		return fmt.Errorf("%s to %s: the position went back from %d to %d", before.Phase, after.Phase, was, is)
	}
	if before.ResourceVersion != "" && after.ResourceVersion == "" {
		return fmt.Errorf("%s to %s: the position was dropped", before.Phase, after.Phase)
	}
	return nil
}

// TestAlwaysOnTheWay runs a machine against a server with every kind of fault. After each step
// the right timers are set and the resourceVersion has not decreased. Once the faults stop, the
// machine watches at the newest version within a few steps.
func TestAlwaysOnTheWay(t *testing.T) { rapid.Check(t, wander) }

// wander runs one history of a machine.
func wander(t *rapid.T) {
	luck := unlucky(func(n int, what string) int { return rapid.IntRange(0, n-1).Draw(t, what) })
	r := testRules()
	r.streaming = luck.oneIn(2, "streaming")
	r.pageSize = int64(luck(2, "page size")) * 2
	r.resync = time.Duration(luck(2, "resync")) * time.Minute
	server := &apiServer{version: 50, oldest: 40, streams: luck.oneIn(2, "server streams")}
	w := &wanderer{t: t, driver: newDriver(r)}
	honest, bad := w.outcome, true
	w.outcome = func(e effect) (input, bool) {
		switch {
		case e.kind == effectReplace && bad && luck.oneIn(6, "replace fails"):
			return input{kind: inputReplaceFailed, cause: reflector.CauseOther, err: reflector.ErrIdle}, true
		case e.kind == effectResync && bad && luck.oneIn(3, "resync fails"):
			return input{kind: inputResyncFailed, cause: reflector.CauseOther, err: reflector.ErrIdle}, true
		}
		return honest(e)
	}
	w.step = func(s state, _ input) { w.see(s) }

	w.feedNow(input{kind: inputStart})
	for range luck(60, "steps") {
		server.live(luck)
		if luck.oneIn(8, "silence") {
			w.ring()
		} else if in, answers := server.answer(w.driver, luck); answers {
			at, _ := w.state.next()
			w.now = min(w.now+time.Duration(luck.between(0, 20, "tenths"))*time.Second/10, max(w.now, at-1))
			w.feedNow(in)
		} else {
			w.ring()
		}
	}

	bad = false
	for steps := 0; w.state.Phase != phaseWatching || w.state.ResourceVersion != strconv.Itoa(server.version); steps++ {
		require.Less(t, steps, 30, "stuck in %s at %q, the server is at %d", w.state.Phase, w.state.ResourceVersion,
			server.version)
		if in, answers := server.answer(w.driver, nil); answers {
			w.feedNow(in)
		} else {
			w.ring()
		}
	}
}

// wanderer is a driver that also checks timers and position.
type wanderer struct {
	*driver
	t    *rapid.T
	now  time.Duration
	last state
}

func (w *wanderer) see(s state) {
	require.NoError(w.t, checkPosition(w.last, s))
	w.last = s
}

func (w *wanderer) feedNow(in input) {
	in.now = w.now
	require.NoError(w.t, w.feed(in))
	w.see(w.state)
	require.NoError(w.t, checkTimers(w.rules, w.state, w.now))
}

// ring advances the time to the next timer.
func (w *wanderer) ring() {
	at, due := w.state.next()
	require.NotEqual(w.t, never, at, "%s has neither an operation nor a timer", w.state.Phase)
	w.now = max(w.now, at)
	w.feedNow(input{kind: due})
}

// TestAnySequenceKeepsTheRules feeds the machine any inputs in any order and checks each step
// against the rules of driver.verify: no watch without a resourceVersion, no refused version
// again, one operation at a time and the right one for the phase, outcomes last, timers of the
// phase. After Stop nothing happens.
func TestAnySequenceKeepsTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := testRules()
		rules.streaming = rapid.Bool().Draw(t, "streaming")
		rules.pageSize = rapid.SampledFrom([]int64{0, 0, 2}).Draw(t, "pageSize")
		rules.resync = rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "resync")
		d := newDriver(rules)
		d.outcome = func(e effect) (input, bool) {
			switch {
			case e.kind == effectDraw:
				return input{kind: inputDelayDrawn, delay: max(time.Second, e.atLeast)}, true
			case e.kind == effectReplace && rapid.IntRange(0, 4).Draw(t, "replaced") > 0:
				return input{kind: inputReplaced}, true
			case e.kind == effectReplace:
				return input{kind: inputReplaceFailed, err: reflector.ErrIdle}, true
			default:
				return input{kind: inputResyncFailed, err: reflector.ErrIdle}, rapid.Bool().Draw(t, "resync failed")
			}
		}
		now := time.Duration(0)
		require.NoError(t, d.feed(input{kind: inputStart}))
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 600).Draw(t, "wait")) * time.Second / 10
			in := randomInput(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "input") })
			if rapid.Bool().Draw(t, "timer") {
				at, due := d.state.next()
				if at != never {
					in.kind, now = due, max(now, at)
				}
			}
			in.now = now
			stopped := d.state.Phase == phaseStopped
			requests, reports := len(d.requests), d.reports
			require.NoError(t, d.feed(in))
			if stopped {
				require.Equal(t, phaseStopped, d.state.Phase)
				require.Len(t, d.requests, requests)
				require.Equal(t, reports, d.reports)
			}
		}
		require.NoError(t, d.feed(input{kind: inputStop, now: now}))
		require.Equal(t, phaseStopped, d.state.Phase)
		require.Equal(t, effectHalt, d.operation)
	})
}

// TestCollectionAgainstModel compares the collection of a streaming list with a map and a list of
// keys.
func TestCollectionAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c collection[*int]
		values := map[string]*int{}
		var order []string
		for range rapid.IntRange(0, 50).Draw(t, "steps") {
			key := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "key")
			if rapid.IntRange(0, 2).Draw(t, "op") == 0 {
				c.remove(key)
				delete(values, key)
				continue
			}
			value := new(int)
			c.put(key, value)
			values[key] = value
			if !slices.Contains(order, key) {
				order = append(order, key) // a key keeps the place of its first arrival
			}
		}
		var want []*int
		for _, key := range order {
			if value, exists := values[key]; exists {
				want = append(want, value)
			}
		}
		got := c.take()
		require.Len(t, got, len(want))
		for i := range want {
			require.Same(t, want[i], got[i])
		}
		require.Empty(t, c.take(), "taken twice")
	})
}

// TestPagesAreCopiedFromTheSecondOn: the slices of the pages stay unchanged, including their
// spare capacity.
func TestPagesAreCopiedFromTheSecondOn(t *testing.T) {
	first, second := make([]int, 2, 10), []int{3, 4}
	var c collection[int]
	c.addPage(first)
	c.addPage(second)
	require.Equal(t, []int{0, 0, 3, 4}, c.take())
	require.Equal(t, []int{0, 0, 0, 0}, first[:4], "the page was written to")
}
