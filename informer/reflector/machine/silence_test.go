package machine

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/reflector"
)

// atWatch is a machine that has opened a watch at time 0.
func atWatch(t *testing.T, opened input) *driver {
	rules := testRules()
	rules.streaming, rules.resync = false, 0
	d := newDriver(rules)
	opened.kind = inputOpened
	for _, in := range []input{{kind: inputStart}, {kind: inputPageListed, rv: "7"}, opened} {
		require.NoError(t, d.feed(in))
	}
	require.Equal(t, phaseWatching, d.state.Phase)
	return d
}

// suspensions are what happens to a machine, and the phase that it is in afterwards. "late" is an
// idle timer that fires too late, as after a suspension, "silent" one that fires on time.
var suspensions = []struct{ name, steps string }{
	{"a watch has events to read", "listed opened late =Watching bookmark ended =OpeningWatch"},
	{"a watch has nothing to read", "listed opened late =Watching silent =OpeningWatch"},
	{"with keepalive there is something to read", "listed carried late =Watching bookmark ended =OpeningWatch"},
	{"with keepalive there is nothing to read", "listed carried late =Watching silent =OpeningWatch"},
	{"the next watch has been answered", "listed opened ended late =OpeningWatch opened =Watching"},
	{"the next watch has not been answered", "listed opened ended late =OpeningWatch silent =BackingOff"},
	{"each watch is excused once", "listed opened late =Watching silent =OpeningWatch late =OpeningWatch"},
	// A suspension of this process must not disable streaming for good.
	{"a stream has events to read", "late =OpeningStream opened event late =Streaming event late =Streaming"},
	{"a stream has nothing to read", "opened event late =Streaming silent =Listing"},
	{"each stream is excused, and its answer before the first event",
		"late =OpeningStream fails retry late =OpeningStream opened late =Streaming"},
}

// A process that was suspended (by a debugger, a hypervisor, a full cgroup) finds all its timers
// expired when it resumes, and unread events buffered. It reads those first.
func TestASuspendedProcessReadsFirst(t *testing.T) {
	for _, c := range suspensions {
		t.Run(c.name, func(t *testing.T) {
			d := newDriver(testRules())
			d.rules.streaming, d.rules.resync = !strings.HasPrefix(c.steps, "listed"), 0
			now := time.Duration(0)
			require.NoError(t, d.feed(input{kind: inputStart}))
			for step := range strings.FieldsSeq(c.steps) {
				in, isInput := map[string]input{
					"listed":   {kind: inputPageListed, rv: "7"},
					"opened":   {kind: inputOpened},
					"carried":  {kind: inputOpened, keepalive: true},
					"event":    {kind: inputEvent, added: true, rv: "8"},
					"bookmark": {kind: inputBookmark, rv: "8"},
					"ended":    {kind: inputStreamEnded},
					"fails":    {kind: inputOpenFailed, cause: reflector.CauseUnreachable, err: reflector.ErrIdle},
					"retry":    {kind: inputBackOffElapsed},
					"late":     {kind: inputIdleElapsed},
					"silent":   {kind: inputIdleElapsed},
				}[step]
				if !isInput {
					require.Equal(t, step, "="+d.state.Phase.String())
					continue
				}
				now += 2 * time.Second
				switch step {
				case "retry":
					now = d.state.timers.backOff
				case "silent":
					now = d.state.timers.idle
				case "late":
					now = d.state.timers.idle + lateTimer
				}
				in.now = now
				require.NoError(t, d.feed(in))
				if step == "late" {
					assert.LessOrEqual(t, d.state.timers.idle, now+10*time.Second, "there is not long to read")
				}
			}
			assert.Equal(t, strings.HasSuffix(c.steps, "=Listing"), d.state.server.refused, "streams are off")
		})
	}
}

// A watch that was open for long has shown that server and connection work, even if it was silent
// at the end.
func TestASilentWatchRestartsTheBackOff(t *testing.T) {
	d := atWatch(t, input{})
	d.state.Failures = 5
	require.NoError(t, d.feed(input{kind: inputIdleElapsed, now: d.state.timers.idle}))
	require.Equal(t, phaseOpeningWatch, d.state.Phase)
	require.NoError(t, d.feed(input{kind: inputOpenFailed, cause: reflector.CauseUnreachable,
		err: reflector.ErrIdle, now: d.state.timers.idle}))
	assert.Equal(t, 1, d.state.Failures, "the failures before that watch count no more")
}

// A server may stop sending bookmarks. After a silence the interval has to be measured again: one
// bookmark is not enough.
func TestTheBookmarkIntervalIsForgottenAfterASilence(t *testing.T) {
	d := atWatch(t, input{keepalive: true})
	feed := func(in input) { require.NoError(t, d.feed(in)) }
	feed(input{kind: inputBookmark, rv: "8", now: time.Minute})
	feed(input{kind: inputBookmark, rv: "9", now: 2 * time.Minute})
	assert.Equal(t, 90*time.Second, d.state.watch.idleTimeout)
	feed(input{kind: inputIdleElapsed, now: d.state.timers.idle})
	require.Equal(t, phaseOpeningWatch, d.state.Phase)
	feed(input{kind: inputOpened, keepalive: true, now: 4 * time.Minute})
	feed(input{kind: inputBookmark, rv: "10", now: 5 * time.Minute})
	assert.Equal(t, 3*time.Minute, d.state.watch.idleTimeout, "the interval has to be learnt again")
}

func TestTheIdleTimeoutFollowsTheBookmarks(t *testing.T) {
	for name, c := range map[string]struct {
		bookmarks []time.Duration // the seconds at which they come
		want      time.Duration
	}{
		"one says nothing":   {[]time.Duration{60}, 3 * time.Minute},
		"the usual interval": {[]time.Duration{60, 120}, 90 * time.Second},
		"intervals of 100 and then 60 seconds: one and a half of the longer": {
			[]time.Duration{60, 160, 220}, 150 * time.Second},
		// A bookmark before the end of a watch makes an interval look short.
		"a short interval: one and a half of the usual minute": {[]time.Duration{60, 100}, 90 * time.Second},
	} {
		d := atWatch(t, input{keepalive: true})
		for _, at := range c.bookmarks {
			require.NoError(t, d.feed(input{kind: inputBookmark, rv: "8", now: at * time.Second}))
		}
		assert.Equal(t, c.want, d.state.watch.idleTimeout, name)
	}
}
