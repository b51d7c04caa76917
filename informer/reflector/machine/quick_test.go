package machine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/informer/reflector"
)

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
		rules.internalBudget = rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "budget")
		d := newDriver(rules)
		d.outcome = func(e effect) (input, bool) {
			switch {
			case e.kind == effectDraw:
				return input{kind: InputDelayDrawn, delay: max(time.Second, e.atLeast)}, true
			case e.kind == effectReplace && rapid.IntRange(0, 4).Draw(t, "replaced") > 0:
				return input{kind: InputReplaced}, true
			case e.kind == effectReplace:
				return input{kind: InputReplaceFailed, err: reflector.ErrIdle}, true
			default:
				return input{kind: InputResyncFailed, err: reflector.ErrIdle}, rapid.Bool().Draw(t, "resync failed")
			}
		}
		now := time.Duration(0)
		require.NoError(t, d.feed(input{kind: InputStart}))
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
		require.NoError(t, d.feed(input{kind: InputStop, now: now}))
		require.Equal(t, phaseStopped, d.state.Phase)
		require.Equal(t, effectHalt, d.operation)
	})
}

// TestAStepChangesNothing: the same step twice gives the same result and leaves its input state
// unchanged. The shell relies on it when it publishes states to other goroutines.
func TestAStepChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDriver(testRules())
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			in := randomInput(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "input") })
			in.now = d.state.lastTime() + time.Second
			before := d.state
			first, effects := d.rules.after(d.state, in)
			second, again := d.rules.after(d.state, in)
			require.Equal(t, before, d.state)
			require.Equal(t, first, second)
			require.Equal(t, effects, again)
			require.NoError(t, d.feed(in))
		}
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
			_, known := values[key]
			if rapid.IntRange(0, 2).Draw(t, "op") == 0 {
				c.remove(key)
				if known {
					delete(values, key)
					order = without(order, key)
				}
				continue
			}
			value := new(int)
			c.put(key, value)
			values[key] = value
			if !known {
				order = append(order, key)
			}
		}
		var want []*int
		for _, key := range order {
			want = append(want, values[key])
		}
		got := c.take()
		require.Len(t, got, len(want))
		for i := range want {
			require.Same(t, want[i], got[i])
		}
		require.Empty(t, c.take(), "taken twice")
	})
}

func without(keys []string, key string) []string {
	var out []string
	for _, k := range keys {
		if k != key {
			out = append(out, k)
		}
	}
	return out
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
