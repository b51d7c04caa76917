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
				play(t, q, s.calls)
			default:
				play(t, q, s.lacking)
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
}

// play makes calls until an assertion fails, and then logs what led to the failure.
func play(t *testing.T, q queue.Interface[string], calls string) {
	p := &player{T: t, q: q}
	played := ""
	for line := range strings.Lines(strings.TrimSpace(calls)) {
		line, reason, _ := strings.Cut(strings.TrimSpace(line), " -- ")
		played += "\n  " + line
		for call := range strings.SplitSeq(line, ";") {
			p.call(strings.Fields(call), reason)
		}
		if t.Failed() {
			t.Fatalf("the last of these lines failed:%s", played)
		}
	}
}

// call makes one call of the queue or asserts something of it.
//
//	add K, done K, after K D    Add, Done, AddAfter
//	shut, drain                 ShutDown; ShutDownWithDrain, in a goroutine
//	pass D, idle                time passes; wait until all goroutines are blocked
//	wait [N]                    N goroutines call Get
//	woken K...                  exactly these keys were returned to them, "shutdown" for a shutdown
//	get K                       Get returns the key at once
//	take K..., take-any K...    these keys are queued, in this order or in any, and are taken
//	len N, up, down             what Len and ShuttingDown return
//	drained N                   so many drains have returned
//	undelayed                   no key is delayed
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
	case "after":
		p.q.(queue.DelayingInterface[string]).AddAfter(keys[0], p.duration(keys[1]))
	case "shut":
		p.q.ShutDown()
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
	case "take":
		assert.Equal(p, keys, append([]string{}, takeAll(p.T, p.q)...), reason)
	case "take-any":
		assert.ElementsMatch(p, keys, takeAll(p.T, p.q), reason)
	case "len":
		assert.Equal(p, p.number(keys[0]), p.q.Len(), reason)
	case "up", "down":
		assert.Equal(p, verb == "down", p.q.ShuttingDown(), reason)
	case "drained":
		ended := 0
		for _, returned := range p.drains {
			if returned() {
				ended++
			}
		}
		assert.Equal(p, p.number(keys[0]), ended, reason)
	case "undelayed":
		if q, ok := p.q.(interface{ Snapshot() queue.Snapshot[string] }); ok {
			assert.Empty(p, q.Snapshot().Delayed, reason)
		}
	default:
		require.FailNow(p, "unknown call "+verb)
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
