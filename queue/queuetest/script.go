package queuetest

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/queue"
)

// script is a scenario of a queue of type Q: calls as data, or a function.
type script[Q queue.Interface[string]] struct {
	name  string
	needs Capability // "" is none
	// calls are separated by semicolons; see player.call. The reason of a line's assertions follows
	// " -- ".
	calls string
	// lacking replaces calls if the implementation lacks the capability.
	lacking string
	test    func(*testing.T, Q) // instead of calls
}

// runScripts runs each script against a new queue.
func runScripts[Q queue.Interface[string]](t *testing.T, impl Implementation, newQueue func() Q, scripts []script[Q]) {
	for _, s := range scripts {
		bubble(t, s.name, func(t *testing.T) {
			q := ended(t, newQueue())
			switch {
			case s.test != nil:
				s.test(t, q)
			case s.needs == "" || impl.has(s.needs):
				(&player{T: t, q: q}).play(s.calls)
			default:
				(&player{T: t, q: q}).play(s.lacking)
			}
		})
	}
}

// player makes the calls of a script.
type player struct {
	*testing.T
	q      queue.Interface[string]
	gets   []<-chan answer // the calls of Get that "wait" began
	drains []func() bool   // those of ShutDownWithDrain
	held   map[string]time.Time

	diary   *diary   // for heard
	metrics *Metrics // for the verbs of metrics
	update  func()   // sets the gauges
}

// play makes calls until an assertion fails, and then logs what led to the failure.
func (p *player) play(calls string) {
	p.held = map[string]time.Time{}
	played := ""
	for line := range strings.Lines(strings.TrimSpace(calls)) {
		line, reason, _ := strings.Cut(strings.TrimSpace(line), " -- ")
		played += "\n  " + line
		for call := range strings.SplitSeq(line, ";") {
			p.call(strings.Fields(call), reason)
		}
		if p.Failed() {
			p.Fatalf("the last of these lines failed:%s", played)
		}
	}
}

// call makes one call of the queue or asserts something of it.
//
//	add K, done K, after K D    Add, Done, AddAfter
//	retry K, forget K           AddRateLimited, Forget
//	shut, drain                 ShutDown, which must return; ShutDownWithDrain, in a goroutine
//	pass D, idle                time passes; wait until all goroutines are blocked
//	wait [N]                    N goroutines call Get
//	woken K...                  exactly these keys were returned to them, "shutdown" for a shutdown
//	get K                       Get returns the key at once
//	take K..., take-any K...    these keys are queued, in this order or in any, and are taken
//	len N, up, down             what Len and ShuttingDown return
//	failures K N                what NumRequeues returns
//	drained N                   so many drains have returned
//	undelayed, delayed K...     the delayed keys of a snapshot
//	waiting N                   the goroutines in Get of a snapshot
//	heard EVENT, ...            the hooks that were called since the last time
//	adds N, retries N           the counters
//	waited D..., worked D...    what the histograms observed
//	depth N, ages               the gauges; ages are those of the keys that get has returned
//
// Two single quotes are the empty key.
func (p *player) call(words []string, reason string) {
	p.Helper()
	verb, arguments := words[0], words[1:]
	keys := make([]string, len(arguments))
	for i, argument := range arguments {
		keys[i] = strings.Trim(argument, "'")
	}
	switch verb {
	case "add":
		p.q.Add(keys[0])
	case "done":
		p.q.Done(keys[0])
		delete(p.held, keys[0])
	case "after":
		p.q.(queue.DelayingInterface[string]).AddAfter(keys[0], p.duration(keys[1]))
	case "retry":
		p.q.(queue.RateLimitingInterface[string]).AddRateLimited(keys[0])
	case "forget":
		p.q.(queue.RateLimitingInterface[string]).Forget(keys[0])
	case "shut":
		require.True(p, background(p.q.ShutDown)(), "ShutDown waits for a worker")
	case "drain":
		p.drains = append(p.drains, background(p.q.ShutDownWithDrain))
	case "pass":
		pass(p.duration(keys[0]))
	case "idle":
		waitIdle()
	case "wait":
		for range p.number(append(keys, "1")[0]) {
			p.gets = append(p.gets, takeAsync(p.q))
		}
		waitIdle()
	case "adds", "retries", "waited", "worked", "depth", "ages":
		p.measure(verb, keys, reason)
	default:
		p.assert(verb, keys, reason)
	}
}

func (p *player) assert(verb string, keys []string, reason string) {
	p.Helper()
	switch verb {
	case "woken":
		assert.Equal(p, keys, p.woken(), reason)
	case "get":
		assert.Equal(p, keys[0], take(p.T, p.q), reason)
		p.held[keys[0]] = time.Now()
	case "take":
		assert.Equal(p, keys, append([]string{}, takeAll(p.T, p.q)...), reason)
	case "take-any":
		assert.ElementsMatch(p, keys, takeAll(p.T, p.q), reason)
	case "len":
		assert.Equal(p, p.number(keys[0]), p.q.Len(), reason)
	case "up", "down":
		assert.Equal(p, verb == "down", p.q.ShuttingDown(), reason)
	case "failures":
		assert.Equal(p, p.number(keys[1]), p.q.(queue.RateLimitingInterface[string]).NumRequeues(keys[0]), reason)
	case "drained":
		ended := 0
		for _, returned := range p.drains {
			if returned() {
				ended++
			}
		}
		assert.Equal(p, p.number(keys[0]), ended, reason)
	case "undelayed", "delayed", "waiting":
		p.look(verb, keys, reason)
	case "heard":
		waitIdle()
		want := strings.Split(strings.Join(keys, " "), ", ")
		assert.Equal(p, want, p.diary.read(), "each event calls its own hook, once and in its order")
	default:
		require.FailNow(p, "unknown call "+verb)
	}
}

// look asserts something of a snapshot, if the queue has one.
func (p *player) look(verb string, keys []string, reason string) {
	q, ok := p.q.(interface{ Snapshot() queue.Snapshot[string] })
	switch {
	case !ok:
	case verb == "waiting":
		assert.Equal(p, p.number(keys[0]), q.Snapshot().Waiting, reason)
	default:
		delayed := []string{}
		for _, d := range q.Snapshot().Delayed {
			delayed = append(delayed, d.Key)
		}
		assert.Equal(p, keys, delayed, reason)
	}
}

// measure asserts something of the metrics.
func (p *player) measure(verb string, keys []string, reason string) {
	waitIdle()
	switch verb {
	case "adds", "retries":
		metric := map[string]string{"adds": queue.MetricAdds, "retries": queue.MetricRetries}[verb]
		assert.EqualValues(p, p.number(keys[0]), p.metrics.Value(metric), reason)
	case "waited", "worked":
		metric := map[string]string{"waited": queue.MetricLatency, "worked": queue.MetricWorkDuration}[verb]
		want := []float64{}
		for _, key := range keys {
			want = append(want, p.duration(key).Seconds())
		}
		assert.Equal(p, want, p.metrics.Observations(metric), reason)
	case "depth":
		p.update()
		assert.EqualValues(p, p.number(keys[0]), p.metrics.Value(queue.MetricDepth), reason)
	case "ages":
		p.update()
		var sum, longest time.Duration
		for _, since := range p.held {
			sum += time.Since(since)
			longest = max(longest, time.Since(since))
		}
		assert.InDelta(p, sum.Seconds(), p.metrics.Value(queue.MetricUnfinishedWork), 1e-9, reason)
		assert.InDelta(p, longest.Seconds(), p.metrics.Value(queue.MetricLongestRunning), 1e-9, reason)
	}
}

// woken returns the sorted answers to the calls of Get that have returned since the last one.
func (p *player) woken() []string {
	waitIdle()
	keys := []string{}
	blocked := p.gets[:0]
	for _, got := range p.gets {
		select {
		case a := <-got:
			if a.shutdown {
				a.key += "shutdown"
			}
			keys = append(keys, a.key)
		default:
			blocked = append(blocked, got)
		}
	}
	p.gets = blocked
	return append([]string{}, sorted(keys)...)
}

func (p *player) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	require.NoError(p, err)
	return d
}

func (p *player) number(text string) int {
	n, err := strconv.Atoi(text)
	require.NoError(p, err)
	return n
}
