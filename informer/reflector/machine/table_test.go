package machine

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/reflector"
	"orrery/restclient/api"
)

func testRules() *rules {
	return &rules{
		name: "things", listTimeout: 5 * time.Minute, streaming: true, streamIdle: 10 * time.Second,
		streamDeadline: 5 * time.Minute, attempts: 3,
		maxItems: 20,
		idle:     3 * time.Minute, silentIdle: 45 * time.Second, resync: 10 * time.Minute,
	}
}

// TestLastRowAlwaysHolds: of the rows for a phase and an input the last has no condition, so a
// handled pair is handled always. The one exception is named.
func TestLastRowAlwaysHolds(t *testing.T) {
	for phase := range phaseCount {
		for in := range inputCount {
			rows := transitions[phase][in]
			for i, row := range rows {
				last := i == len(rows)-1
				if phase == phaseBackingOff && in == inputResyncFailed {
					// The state is fetched again, unless the resourceVersion is to be kept.
					assert.Equal(t, positionKept.text, row.when.text)
					continue
				}
				assert.Equal(t, last, row.when.holds == nil, "%s, %s, row %d", phase, in, i)
			}
		}
	}
}

// after is a step that leaves s as it is.
func (r *rules) after(s state, in input) (state, []effect) {
	var do effects
	r.step(&s, &in, &do)
	return s, do.list[:do.n]
}

// driver runs a machine as the shell does: an effect with an outcome gets it before any other
// input. It checks every step.
type driver struct {
	rules *rules
	state state

	outcome   func(e effect) (input, bool) // for an effect that has one
	operation effectKind                   // what the shell would be running
	doing     bool
	refused   map[string]bool // refused versions that the server has not returned since
	requests  []effect
	reports   int
	step      func(state, input) // called before each step; may be nil
}

func newDriver(r *rules) *driver {
	d := &driver{rules: r, state: newState(), refused: map[string]bool{}}
	d.outcome = func(e effect) (input, bool) {
		switch e.kind {
		case effectReplace:
			return input{kind: inputReplaced}, true
		case effectDraw:
			return input{kind: inputDelayDrawn, delay: max(time.Second, e.atLeast)}, true
		}
		return input{}, false
	}
	return d
}

// feed makes a step and those that follow from it, and returns the first violated rule.
func (d *driver) feed(in input) error {
	for {
		before := d.state
		if d.step != nil {
			d.step(before, in)
		}
		next, effects := d.rules.after(before, in)
		d.state = next
		if err := d.verify(before, in, effects); err != nil {
			return fmt.Errorf("%s, %s -> %s: %w", before.Phase, in.kind, next.Phase, err)
		}
		if len(effects) == 0 || !effects[len(effects)-1].kind.hasOutcome() {
			return nil
		}
		follow, more := d.outcome(effects[len(effects)-1])
		if !more {
			return nil
		}
		follow.now = in.now
		in = follow
	}
}

// verify checks the effects of a step.
func (d *driver) verify(before state, in input, effects []effect) error {
	if err := d.state.check(); err != nil {
		return err
	}
	d.noteRefusal(before, in)
	operations := 0
	for i, e := range effects {
		switch {
		case e.kind.hasOutcome() && i != len(effects)-1:
			return fmt.Errorf("%s is not the last effect", e.kind)
		case e.kind.isOperation():
			operations++
			d.operation, d.doing = e.kind, true
		case e.kind == effectClose && before.Phase == phaseStopped:
			return fmt.Errorf("something is done after the end")
		case e.kind == effectReport:
			d.reports++
			if e.err == nil {
				return fmt.Errorf("a report of nothing")
			}
		}
		if err := d.verifyRequest(e); err != nil {
			return err
		}
	}
	if operations > 1 {
		return fmt.Errorf("%d operations at once", operations)
	}
	return d.verifyOperation(effects)
}

// noteRefusal remembers which versions must not be requested: those that a list was refused.
func (d *driver) noteRefusal(before state, in input) {
	gone := in.cause == reflector.CauseExpired || in.cause == reflector.CauseTooLarge
	if d.state.ResourceVersion != before.ResourceVersion || in.kind == inputReplaced {
		delete(d.refused, d.state.startRV()) // the server itself has returned it again, or none
	}
	switch {
	case !gone:
	case in.kind == inputOpenFailed && before.Phase == phaseOpeningStream,
		in.kind == inputOpenFailed && before.Phase == phaseOpeningWatch && notReached.holds(d.rules, &before, &in),
		in.kind == inputStreamFailed && before.Phase == phaseStreaming,
		// On a later page the token is refused, not the version, and the full list still follows.
		in.kind == inputListFailed && before.Phase == phaseListing && before.listing.token == "":
		d.refused[before.request.rv] = true
	}
	delete(d.refused, "") // it cannot be refused
}

func (d *driver) verifyRequest(e effect) error {
	if e.kind != effectOpen && e.kind != effectList {
		return nil
	}
	d.requests = append(d.requests, e)
	o := e.options
	switch {
	case e.verify && (o.ResourceVersion == "" || o.ResourceVersion == "0"):
		return fmt.Errorf("there is no position to verify")
	case d.refused[o.ResourceVersion]:
		return fmt.Errorf("the refused version %q is asked for", o.ResourceVersion)
	case o.Continue != "" && o.ResourceVersion != "":
		return fmt.Errorf("a continue token with a version")
	case e.kind == effectOpen && !o.AllowWatchBookmarks:
		return fmt.Errorf("no bookmarks are asked for")
	case needsMatch(o) != (o.ResourceVersionMatch != ""):
		return fmt.Errorf("resourceVersionMatch is %q", o.ResourceVersionMatch)
	}
	return nil
}

// needsMatch reports whether the server would read the options otherwise without a
// resourceVersionMatch: it refuses initial events, and takes a limit at a version for that version.
func needsMatch(o api.ListOptions) bool {
	return o.SendInitialEvents || o.Limit > 0 && o.ResourceVersion != "" && o.ResourceVersion != "0"
}

// verifyOperation: in each phase the shell does what the phase waits for.
func (d *driver) verifyOperation(effects []effect) error {
	if len(effects) > 0 && effects[len(effects)-1].kind.hasOutcome() {
		return nil // not at rest yet
	}
	want := map[reflector.Phase]effectKind{
		phaseOpeningStream: effectOpen, phaseStreaming: effectRead, phaseListing: effectList,
		phaseOpeningWatch: effectOpen,
		phaseWatching:     effectRead, phaseBackingOff: effectWait, phaseStopped: effectHalt}
	kind, fixed := want[d.state.Phase]
	if fixed && (!d.doing || d.operation != kind) {
		return fmt.Errorf("in %s the shell does %s", d.state.Phase, d.operation)
	}
	if at, timer := d.state.next(); d.state.Phase == phaseBackingOff && (at == never || timer == inputIdleElapsed) {
		return fmt.Errorf("a back-off without an end")
	}
	return nil
}

// randomInput returns an input of any kind with any content. intN returns a number in [0, n).
func randomInput(intN func(int) int) input {
	in := input{kind: inputKind(intN(int(inputCount))), err: reflector.ErrIdle}
	if in.kind == inputStop && intN(8) > 0 {
		in.kind = inputEvent
	}
	in.rv = []string{"", "0", "7", "8", "9"}[intN(5)]
	in.token = []string{"", "", "t1", "t2"}[intN(4)]
	in.items = intN(12)
	in.added = intN(2) == 0
	in.initial = intN(2) == 0
	in.keepalive = intN(2) == 0
	in.noKeepalive = intN(4) == 0
	in.cause = reflector.Cause(intN(int(causeCount)))
	in.delay = time.Duration(intN(40)) * time.Second
	return in
}

// A watch of exactly a second is not very short, so that two of them in a row cause no back-off.
func TestAWatchOfExactlyASecondIsNotVeryShort(t *testing.T) {
	s := newState()
	s.Phase, s.stream.openedAt = phaseWatching, time.Minute
	s.judge(time.Minute + reflector.VeryShortWatch - 1)
	assert.True(t, s.failure.brief, "it was shorter than a second")
	s.judge(time.Minute + reflector.VeryShortWatch)
	assert.False(t, s.failure.brief, "it lasted a second")
}

// The duration of a list counts from the request of its first page, and each bookmark counts.
func TestWhatAListReports(t *testing.T) {
	r := testRules()
	for name, replace := range map[string]action{"pages": replaceFromList, "a stream": replaceFromStream} {
		s, do := newState(), effects{}
		s.request.at = time.Minute
		replace(r, &s, &input{rv: "1", now: time.Minute + 2*time.Second}, &do)
		assert.Equal(t, effectReplace, do.last().kind, name)
		assert.Equal(t, 2*time.Second, do.last().lasted, "a list from %s took two seconds", name)
	}
	s := newState()
	keepStreaming(r, &s, &input{}, &effects{})
	assert.Equal(t, 1, s.Bookmarks, "a bookmark between the initial events counts")
}

// What a limit says holds from that very moment or number on.
func TestLimitsAreExact(t *testing.T) {
	const now = time.Hour
	for name, test := range map[string]struct {
		at, before func(r *rules, s *state) bool
	}{
		"a watch is short if the idle timeout is three seconds": {
			func(r *rules, s *state) bool {
				r.silentIdle = 3 * time.Second
				return r.short(s, &input{noKeepalive: true})
			},
			func(r *rules, s *state) bool { r.silentIdle--; return r.short(s, &input{noKeepalive: true}) },
		},
		"a server without news is asked for the position": {
			func(r *rules, s *state) bool {
				s.server.newsAt = now - longWithoutNews
				return withoutNews.holds(r, s, &input{now: now})
			},
			func(r *rules, s *state) bool { s.server.newsAt++; return withoutNews.holds(r, s, &input{now: now}) },
		},
		"a list is too long": {
			func(r *rules, s *state) bool {
				s.listing.page = reflector.EmptyPages + 3
				return listTooLong.holds(r, s, &input{items: 2})
			},
			func(r *rules, s *state) bool { s.listing.page--; return listTooLong.holds(r, s, &input{items: 2}) },
		},
		"a resync is done": {
			func(r *rules, s *state) bool {
				r.resync, s.timers.resync = time.Minute, now
				skipResync(r, s, &input{now: now}, &effects{})
				return s.timers.resync == now+time.Minute
			},
			func(r *rules, s *state) bool {
				skipResync(r, s, &input{now: now + time.Minute - 1}, &effects{})
				return s.timers.resync != now+time.Minute
			},
		},
		"a delayed resync is followed by one at the next multiple": {
			func(r *rules, s *state) bool {
				r.resync, s.timers.resync = time.Minute, now
				skipResync(r, s, &input{now: now + 4*time.Minute}, &effects{})
				return s.timers.resync == now+5*time.Minute
			},
			func(r *rules, s *state) bool {
				s.timers.resync = now
				skipResync(r, s, &input{now: now + 4*time.Minute - 1}, &effects{})
				return s.timers.resync == now+5*time.Minute
			},
		},
	} {
		r, s := testRules(), newState()
		assert.True(t, test.at(r, &s), "%s: at the limit", name)
		assert.False(t, test.before(r, &s), "%s: just before it", name)
	}
}

// A token that comes again is found in a circle of any length: the pages whose numbers are powers
// of two leave a mark.
func TestPagesThatLeaveAMark(t *testing.T) {
	r, s := testRules(), newState()
	marked := []int{}
	for page := 1; page <= 9; page++ {
		s.listing.page, s.listing.mark = page, ""
		listNextPage(r, &s, &input{token: "next"}, &effects{})
		if s.listing.mark != "" {
			marked = append(marked, page)
		}
	}
	assert.Equal(t, []int{1, 2, 4, 8}, marked)
}

// A resync that fails during a back-off puts the content of the store in doubt: a list follows,
// even if the server was to be asked about the position next.
func TestAFailedResyncDropsThePosition(t *testing.T) {
	d := atWatch(t)
	require.NoError(t, d.feed(input{kind: inputStreamEnded, now: 36 * time.Second}))
	require.NoError(t, d.feed(input{kind: inputOpenFailed, cause: reflector.CauseUnreachable,
		err: reflector.ErrIdle, now: 40 * time.Second}))
	require.True(t, d.state.backingOff.verifyNext, "the server did not answer")
	require.NoError(t, d.feed(input{kind: inputResyncFailed, err: reflector.ErrIdle, now: 40 * time.Second}))
	require.NoError(t, d.feed(input{kind: inputBackOffElapsed, now: d.state.timers.backOff}))
	assert.Equal(t, phaseListing, d.state.Phase)
}

// check returns a violated invariant of the state, or nil. Each step must lead from a valid state
// to a valid state.
func (s *state) check() error {
	watching := s.Phase == phaseOpeningWatch || s.Phase == phaseWatching
	switch {
	case watching && !s.Synced:
		return fmt.Errorf("%s before the first list", s.Phase)
	case watching && s.ResourceVersionRefused:
		return fmt.Errorf("%s at a position that the server has refused", s.Phase)
	case s.backingOff.keepPosition && (s.Phase != phaseBackingOff || !s.definite() || s.ResourceVersionRefused):
		return fmt.Errorf("%s keeps a position that it does not have", s.Phase)
	case s.backingOff.verifyNext && !s.backingOff.keepPosition:
		return fmt.Errorf("%s verifies a position that it does not keep", s.Phase)
	case (s.Phase == phaseListing) != (s.listing.page > 0):
		return fmt.Errorf("%s at page %d", s.Phase, s.listing.page)
	case s.listing.token != "" && s.listing.page < 2:
		return fmt.Errorf("page %d has a continue token", s.listing.page)
	case s.listing.whole && s.listing.limit != 0:
		return fmt.Errorf("a list of the whole with a limit of %d", s.listing.limit)
	case s.Phase == phaseStopped && s.timers.resync != never, s.Phase != phaseBackingOff && s.timers.backOff != never,
		!waits(s.Phase) && s.timers.idle != never:
		return fmt.Errorf("%s has a timer that it does not wait for", s.Phase)
	case s.stream.delivered < 0 || s.stream.changes > s.stream.delivered || s.server.broken < 0 || s.Failures < 0:
		return fmt.Errorf("impossible counters")
	}
	return nil
}

// isOperation reports whether the effect replaces the current operation of the shell's goroutine.
func (k effectKind) isOperation() bool { return k <= effectHalt }

// hasOutcome reports whether an input follows from the effect before anything else can happen.
// Such an effect is the last of its step.
func (k effectKind) hasOutcome() bool { return k >= effectReplace && k <= effectDraw }

// atWatch is a machine that has opened a watch at time 0.
func atWatch(t *testing.T) *driver {
	rules := testRules()
	rules.streaming, rules.resync = false, 0
	d := newDriver(rules)
	for _, in := range []input{{kind: inputStart}, {kind: inputPageListed, rv: "7"}, {kind: inputOpened}} {
		require.NoError(t, d.feed(in))
	}
	require.Equal(t, phaseWatching, d.state.Phase)
	return d
}

// A watch that was open for long has shown that server and connection work, even if it was silent
// at the end.
func TestASilentWatchRestartsTheBackOff(t *testing.T) {
	d := atWatch(t)
	d.state.Failures = 5
	require.NoError(t, d.feed(input{kind: inputIdleElapsed, now: d.state.timers.idle}))
	require.Equal(t, phaseOpeningWatch, d.state.Phase)
	require.NoError(t, d.feed(input{kind: inputOpenFailed, cause: reflector.CauseUnreachable,
		err: reflector.ErrIdle, now: d.state.timers.idle}))
	assert.Equal(t, 1, d.state.Failures, "the failures before that watch count no more")
}

// A suspension of this process must not disable streaming for good.
func TestALateTimerDoesNotDisableStreaming(t *testing.T) {
	for late, refused := range map[time.Duration]bool{0: true, lateTimer: false} {
		s, rules := newState(), testRules()
		s.Phase, s.timers.idle = phaseStreaming, 0
		rules.step(&s, &input{kind: inputIdleElapsed, now: late, err: reflector.ErrIdle}, &effects{})
		assert.Equal(t, refused, s.server.refused, "a timer that fired %v late", late)
	}
}

var update = flag.Bool("update", false, "write the diagram of the transition table into the documentation")

// The generated part of the file is between these lines.
const (
	generatedBegin = "(generated from the transition table by: go test -run Diagram -update)"
	generatedEnd   = "(end of the generated part)"
)

// TestDiagramIsUpToDate compares the documentation with the table. -update writes it.
func TestDiagramIsUpToDate(t *testing.T) {
	const file = "TRANSITIONS.md"
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(content), generatedBegin+"\n")
	require.True(t, found, "%s has lost the line %q", file, generatedBegin)
	_, after, found := strings.Cut(rest, generatedEnd)
	require.True(t, found, "%s has lost the line %q", file, generatedEnd)
	want := before + generatedBegin + "\n\n```mermaid\n" + stateDiagram() + "```\n\n" + transitionTable() + "\n" +
		recoveryTable() + "\n" + generatedEnd + after
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(content), "%s is stale: go test -run Diagram -update", file)
}

// stateDiagram renders the table in Mermaid. Stop (to Stopped) and ResyncElapsed (to the same
// phase) are left out; they are alike in every phase.
func stateDiagram() string {
	var out strings.Builder
	out.WriteString("stateDiagram-v2\n")
	for _, row := range table {
		if row.on == inputStop || row.on == inputResyncElapsed {
			continue
		}
		fmt.Fprintf(&out, "    %s --> %s : %s\n", row.from, row.to, label(row))
	}
	return out.String()
}

func label(row transition) string {
	if row.when.text == "" {
		return row.on.String()
	}
	return fmt.Sprintf("%s [%s]", row.on, row.when.text)
}

// transitionTable renders the table in Markdown, with the effects of each row.
func transitionTable() string {
	var out strings.Builder
	out.WriteString("| in phase | happens | if | next phase | effects |\n|---|---|---|---|---|\n")
	for _, row := range table {
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n", row.from, row.on, row.when.text, row.to, effectsOf(row))
	}
	return out.String()
}

// effectsOf returns the effects of a row, applied to an arbitrary state.
func effectsOf(row transition) string {
	s := newState()
	s.Phase, s.ResourceVersion, s.fetched.rv, s.request.rv = row.from, "1", "1", "1"
	if row.from == phaseListing {
		s.listing.page = 1
	}
	var do effects
	row.do(testRules(), &s, &input{kind: row.on, err: reflector.ErrIdle}, &do)
	var names []string
	for _, e := range do.list[:do.n] {
		names = append(names, e.kind.String())
	}
	return strings.Join(names, ", ")
}

// recoveryTable renders the recovery table in Markdown.
func recoveryTable() string {
	phases := []reflector.Phase{phaseOpeningStream, phaseStreaming, phaseListing, phaseOpeningWatch, phaseWatching}
	var out strings.Builder
	out.WriteString("| cause |")
	for _, phase := range phases {
		fmt.Fprintf(&out, " %s |", phase)
	}
	out.WriteString("\n|---|" + strings.Repeat("---|", len(phases)) + "\n")
	for cause := range causeCount {
		fmt.Fprintf(&out, "| %s |", cause)
		for _, phase := range phases {
			fmt.Fprintf(&out, " %s |", recoveryFor(phase, cause))
		}
		out.WriteString("\n")
	}
	return out.String()
}
