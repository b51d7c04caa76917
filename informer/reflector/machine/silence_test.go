package machine

import (
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

// A process that was suspended (by a debugger, a hypervisor, a full cgroup) finds all its timers
// expired when it resumes, and unread events buffered. It reads those first.
func TestASuspendedProcessReadsFirst(t *testing.T) {
	for name, opened := range map[string]input{
		"HTTP/1.1": {},
		"HTTP/2":   {keepalive: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := atWatch(t, opened)
			d.state.server.bookmarkInterval, d.state.watch.bookmarkAt = time.Minute, 0
			now := 10 * time.Minute
			require.NoError(t, d.feed(input{kind: inputIdleElapsed, now: now}))
			assert.Equal(t, phaseWatching, d.state.Phase)
			late := d.state

			require.NoError(t, d.feed(input{kind: inputBookmark, rv: "8", now: now + time.Second}))
			require.NoError(t, d.feed(input{kind: inputStreamEnded, now: now + time.Second}))

			// If there was nothing to read, the connection is dead.
			d.state = late
			at, due := d.state.next()
			require.Equal(t, inputIdleElapsed, due)
			assert.LessOrEqual(t, at, now+10*time.Second)
			require.NoError(t, d.feed(input{kind: due, now: at + time.Hour}))
			assert.Equal(t, phaseOpeningWatch, d.state.Phase)
		})
	}
}

// The same while a watch is being opened: the response may be there already.
func TestASuspendedProcessReadsTheAnswerFirst(t *testing.T) {
	d := atWatch(t, input{})
	require.NoError(t, d.feed(input{kind: inputStreamEnded, now: 36 * time.Second}))
	require.Equal(t, phaseOpeningWatch, d.state.Phase)
	require.NoError(t, d.feed(input{kind: inputIdleElapsed, now: time.Hour}))
	assert.Equal(t, phaseOpeningWatch, d.state.Phase)
	opened := d.state
	require.NoError(t, d.feed(input{kind: inputOpened, now: time.Hour + time.Second}))
	assert.Equal(t, phaseWatching, d.state.Phase)

	d.state = opened
	at, due := d.state.next()
	require.NoError(t, d.feed(input{kind: due, now: at}))
	assert.Equal(t, phaseBackingOff, d.state.Phase)
}

// A late timer is excused once for each watch. Here the process is suspended, gives up a silent
// watch, and is suspended again while the next one is being opened: it reads the answer first
// again.
func TestASuspendedProcessReadsFirstAgain(t *testing.T) {
	d := atWatch(t, input{})
	require.NoError(t, d.feed(input{kind: inputIdleElapsed, now: d.state.timers.idle + lateTimer}))
	require.Equal(t, phaseWatching, d.state.Phase)
	require.NoError(t, d.feed(input{kind: inputIdleElapsed, now: d.state.timers.idle}))
	require.Equal(t, phaseOpeningWatch, d.state.Phase, "there was nothing to read")
	require.NoError(t, d.feed(input{kind: inputIdleElapsed, now: d.state.timers.idle + lateTimer}))
	assert.Equal(t, phaseOpeningWatch, d.state.Phase, "the timer of the next watch was late for the first time")
}

// The same during a streaming list: a suspension of this process must not disable streaming for
// good.
func TestASuspendedProcessGoesOnWithTheStream(t *testing.T) {
	d := newDriver(testRules())
	d.rules.streaming = true
	require.NoError(t, d.feed(input{kind: inputStart}))
	require.Equal(t, phaseOpeningStream, d.state.Phase)
	require.NoError(t, d.feed(input{kind: inputIdleElapsed, now: d.state.timers.idle + time.Minute}))
	require.Equal(t, phaseOpeningStream, d.state.Phase)
	require.NoError(t, d.feed(input{kind: inputOpened, now: time.Hour}))
	require.NoError(t, d.feed(input{kind: inputEvent, added: true, rv: "1", now: time.Hour}))
	require.NoError(t, d.feed(input{kind: inputIdleElapsed, now: 2 * time.Hour}))
	assert.Equal(t, phaseStreaming, d.state.Phase, "buffered events are read first")
	require.NoError(t, d.feed(input{kind: inputEvent, added: true, rv: "2", now: 2*time.Hour + time.Second}))
	require.NoError(t, d.feed(input{kind: inputIdleElapsed, now: 3 * time.Hour}))
	assert.Equal(t, phaseStreaming, d.state.Phase, "it was stopped once more")

	require.NoError(t, d.feed(input{kind: inputIdleElapsed, now: d.state.timers.idle}))
	assert.Equal(t, phaseListing, d.state.Phase)
	assert.True(t, d.state.server.refused, "there was nothing to read")
}

// Each stream has its own chance, and so has its answer before the first event.
func TestASuspendedProcessReadsFirstOnEachStream(t *testing.T) {
	d := newDriver(testRules())
	feed := func(in input) { require.NoError(t, d.feed(in)) }
	suspend := func() { feed(input{kind: inputIdleElapsed, now: d.state.timers.idle + lateTimer}) }
	feed(input{kind: inputStart})
	suspend()
	require.Equal(t, phaseOpeningStream, d.state.Phase)
	feed(input{kind: inputOpenFailed, cause: reflector.CauseUnreachable, err: reflector.ErrIdle,
		now: d.state.timers.idle})
	feed(input{kind: inputBackOffElapsed, now: d.state.timers.backOff})
	suspend()
	require.Equal(t, phaseOpeningStream, d.state.Phase, "the timer of the next stream was late for the first time")
	feed(input{kind: inputOpened, now: d.state.timers.idle})
	suspend()
	assert.Equal(t, phaseStreaming, d.state.Phase, "no event has been read yet")
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
	assert.Equal(t, 3*time.Minute, d.state.watch.idleTimeout, "the interval is not known yet")
	feed(input{kind: inputBookmark, rv: "9", now: 2 * time.Minute})
	assert.Equal(t, 90*time.Second, d.state.watch.idleTimeout)
	feed(input{kind: inputIdleElapsed, now: d.state.timers.idle})
	require.Equal(t, phaseOpeningWatch, d.state.Phase)
	feed(input{kind: inputOpened, keepalive: true, now: 4 * time.Minute})
	feed(input{kind: inputBookmark, rv: "10", now: 5 * time.Minute})
	assert.Equal(t, 3*time.Minute, d.state.watch.idleTimeout, "the interval has to be learnt again")
}

// A server whose bookmarks come at irregular intervals is silent for as long as the longest one.
func TestTheLongestBookmarkIntervalCounts(t *testing.T) {
	d := atWatch(t, input{keepalive: true})
	for _, at := range []time.Duration{60, 160, 220} {
		require.NoError(t, d.feed(input{kind: inputBookmark, rv: "8", now: at * time.Second}))
	}
	assert.Equal(t, 150*time.Second, d.state.watch.idleTimeout,
		"intervals of 100 and then 60 seconds: one and a half of the longer")
}

// A bookmark before the end of a watch makes an interval look short. The timeout is not shorter for
// that than with the usual one.
func TestAShortBookmarkIntervalDoesNotShortenTheTimeout(t *testing.T) {
	d := atWatch(t, input{keepalive: true})
	for _, at := range []time.Duration{60, 100} {
		require.NoError(t, d.feed(input{kind: inputBookmark, rv: "8", now: at * time.Second}))
	}
	assert.Equal(t, 90*time.Second, d.state.watch.idleTimeout, "one and a half of the usual minute")
}
