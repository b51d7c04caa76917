package queuetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
)

func runDelays(t *testing.T, impl Implementation) {
	runScripts(t, impl, impl.NewDelaying, delayScripts)
	bubble(t, "drain drops delays and does not wait for them (issue 134323)", func(t *testing.T) {
		testDrainDropsDelays(t, impl) // without a ShutDown after it
	})
}

var delayScripts = []script[queue.DelayingInterface[string]]{
	{name: "a key is queued when its delay ends, not before", calls: `
		after a 50ms; pass 49.999999ms; take -- before the delay of a has ended
		pass 1ns; take a -- when the delay of a has ended
		pass 1h; take -- the key was queued twice`},
	{name: "without a delay, AddAfter adds now", calls: `
		after a 0; after b -1s; len 2 -- want AddAfter with delays of 0 and -1s to have added the keys when it returns
		take a b -- after AddAfter with delays of 0 and -1s`},
	{name: "the end of a delay wakes a worker", calls: `
		wait 2; after a 1s; after b 1s; pass 1s
		woken a b -- want the ends of two delays to wake two workers in Get`},
	{name: "keys are queued in the order of their deadlines", test: testDelayOrder},
	{name: "the earlier of two deadlines wins", calls: `
		after later-first 2s; after later-first 1s; after earlier-first 1s; after earlier-first 2s
		pass 999.999999ms; take -- before the earlier deadline
		pass 1ns; take-any earlier-first later-first -- at the earlier of two deadlines
		pass 1h; take -- at the later deadline, which had been replaced
		after later-first 1s; pass 1s; take later-first -- at the end of a new delay
		after first 1m; after overtakes 1h; after overtakes 1s
		pass 1s; take overtakes -- at the new deadline of a key that overtakes another one
		pass 1m; take first -- at the deadline of the other one`},
	{name: "an endless delay never ends", calls: `
		after a 876000h; after b 1281023h; after c 1s
		pass 1h; take c -- after an hour, beside delays of 100 years and more`},
	{name: "a delayed key that a worker holds is queued after Done", calls: `
		add a; get a; after a 1s; pass 1m; take -- while a worker holds the key
		done a; take a -- after Done of a key whose delay has ended
		add a; get a; after a 1s; done a; take -- after Done of a key whose delay goes on
		pass 1s; take a -- at the end of that delay`},
	{name: "a key can be queued and delayed", calls: `
		add a; after a 1s; idle; take a -- before the delay of a queued key has ended
		pass 1s; take a -- when the delay of a key that was queued has ended`},
	{name: "a key that is queued when its delay ends is handed out once", calls: `
		add a; after a 1s; pass 1m; take a -- when the delay of a key that is still queued has ended`},
	{name: "thousands of delays that end together", test: testManyDelays},
	{name: "AddAfter after ShutDown does nothing", calls: `
		shut; after a 0; after b 1s; undelayed -- want no delayed keys after ShutDown
		pass 1h; take -- after AddAfter on a queue that is shut down`},
	{name: "ShutDown drops delays", calls: `
		add now; after later 1s; idle; shut; undelayed -- want no delayed keys after ShutDown
		pass 1h; take now; wait; woken shutdown -- an hour after ShutDown`},
	{name: "Add of a delayed key (issue 112325)", needs: AddCancelsDelay, calls: `
		after a 1s; idle; add a; take a
		pass 1h; take -- when the delay that Add has canceled would have ended
		after a 1s; after a 0; take a -- after AddAfter without delay
		pass 1h; take -- when the delay that AddAfter without delay has canceled would have ended`,
		lacking: `
		after a 1s; idle; add a; take a
		pass 1h; take a -- when the delay of a key that was added has ended`},
	// The worker tries again later; meanwhile an event handler hears that the object has changed.
	{name: "Add of a delayed key that a worker holds", needs: AddCancelsDelay, calls: `
		add a; get a; after a 1s; idle; add a; done a; take a
		pass 1h; take -- when the delay that an event has canceled would have ended`,
		lacking: `
		add a; get a; after a 1s; idle; add a; done a; take a
		pass 1h; take a -- when the delay of a key that was added has ended`},
	// The second AddAfter of a is not earlier and has no effect. The shortened delay has the
	// deadline of a later call.
	{name: "equal delays", needs: KeepsOrderOfEqualDelays, calls: `
		after a 1s; idle; after b 1s; idle; after c 1s; idle; after d 1s; idle; after e 1s; idle; after f 1s; idle
		after a 1s; pass 1s; take a b c d e f -- want equal deadlines in the order of their first AddAfter
		after shortened 2s; after waits-already 1s; after shortened 1s; pass 1s
		take waits-already shortened -- want a shortened delay behind those that had the same deadline before it`,
		lacking: `
		after a 1s; after b 1s; after c 1s; after d 1s; after e 1s; after f 1s
		after a 1s; pass 1s; take-any a b c d e f -- want each of the keys with equal deadlines
		after shortened 2s; after waits-already 1s; after shortened 1s; pass 1s
		take-any waits-already shortened -- want both keys, whose deadlines are equal`},
}

func testDelayOrder(t *testing.T, q queue.DelayingInterface[string]) {
	const n = 100
	var want []string
	for i := range n {
		place := (i * 37) % n // a permutation
		q.AddAfter(fmt.Sprint("key-", place), time.Duration(place+1)*time.Second)
		want = append(want, fmt.Sprint("key-", i))
	}
	var got []string
	for range n {
		pass(time.Second)
		got = append(got, takeAll(t, q)...)
	}
	assert.Equal(t, want, got, "want the keys in the order of their deadlines")
}

func testManyDelays(t *testing.T, q queue.DelayingInterface[string]) {
	const n = 5000 // more than client-go's channel holds
	for i := range n {
		q.AddAfter(fmt.Sprint("key-", i), time.Second)
	}
	pass(time.Second - 1)
	require.Zero(t, q.Len(), "want no key before the delays have ended")
	pass(1)
	assert.Equal(t, n, q.Len(), "want every delay that ended to add its key")
}

func testDrainDropsDelays(t *testing.T, impl Implementation) {
	before := Goroutines()
	q := impl.NewDelaying()
	q.AddAfter("later", time.Second)
	waitIdle()
	drained := background(q.ShutDownWithDrain)
	require.True(t, drained(), "the drain does not wait for a delayed key")

	left := Goroutines()
	if impl.has(DrainLeavesNothing) {
		assert.LessOrEqual(t, left, before, "a goroutine was left behind")
	} else {
		// Time stops when the scenario is over; let the goroutines end now.
		pass(time.Minute)
		assert.Greater(t, left, Goroutines(), "no goroutine was left behind")
	}
	assertEmpty(t, q, "the delay was dropped")
}
