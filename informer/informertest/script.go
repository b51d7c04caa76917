package informertest

import (
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// script is a case as data: what happens to an informer, and what its handlers receive.
type script struct {
	name     string
	resync   time.Duration // the period of the informer
	handlers string        // resync periods: "default 15s never"; if empty, "never" or those that join
	before   string        // steps before the start, see player.play
	steps    string        // steps after it
	burst    bool          // no step waits for the informer, so that changes may be merged
	anyOrder bool          // events of different objects have no order
	want     string        // the events of each handler: "add ns/a=1; update ns/a 1->2 | add ns/a=2 (initial)"
	relisted string        // one more event of each, without QuietRelists
}

// cases makes a case of each script.
func cases(scripts []script) (all []contractCase) {
	for _, s := range scripts {
		all = append(all, contractCase{s.name, s.run})
	}
	return all
}

func (s script) run(b *bubble) {
	b.make(InformerConfig{ResyncPeriod: s.resync})
	p := newPlayer(b, s.burst)
	if s.handlers == "" && !strings.Contains(s.steps, "join") {
		s.handlers = "never"
	}
	for period := range strings.FieldsSeq(s.handlers) {
		p.join(period)
	}
	p.play(s.before)
	b.start()
	p.play(s.steps)
	b.waitIdle()
	for i, text := range strings.Split(s.want, " | ") {
		want := steps(text)
		if s.relisted != "" && !b.has(QuietRelists) {
			want = append(want, s.relisted)
		}
		switch {
		case s.burst:
			b.leadsTo(want, p.recorders[i])
		case s.anyOrder:
			assert.ElementsMatch(b, want, p.recorders[i].Events(), "the events of handler %d", i)
		default:
			assert.Equal(b, want, p.recorders[i].Events(), "the events of handler %d", i)
		}
	}
	assert.Equal(b, content(b.source), b.informer.Content(), "the store has the state of the server")
}

// steps splits a text at its semicolons.
func steps(text string) []string {
	if text == "" {
		return []string{}
	}
	return strings.Split(text, "; ")
}

// player plays the steps of a script.
type player struct {
	*bubble
	burst         bool
	recorders     []*Recorder
	registrations []Registration
	removed       map[int]bool // by their numbers
	reconnect     func()
}

func newPlayer(b *bubble, burst bool) *player {
	return &player{bubble: b, burst: burst, removed: map[int]bool{}}
}

func (p *player) join(period string) {
	resync := time.Duration(-1)
	if period == "default" {
		resync = 0
	} else if period != "never" {
		resync = p.duration(period)
	}
	r := &Recorder{}
	registration, err := p.informer.AddEventHandler(r.Handle, resync)
	assert.NoError(p, err)
	p.recorders, p.registrations = append(p.recorders, r), append(p.registrations, registration)
}

func (p *player) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	require.NoError(p, err)
	return d
}

// play plays steps, separated by semicolons:
//
//	set ns/a 1 2     gives the object these values, one after the other
//	delete ns/a
//	join 15s         adds a handler with this resync period
//	remove 0         removes the first handler, if there is one
//	lose ns/a        deletes it unseen, and makes the informer list
//	cut              ends the watches
//	expire           ends them with a 410
//	after 5s, wait   lets the time pass, and the informer come to rest
//	disconnect       ends the watches; requests wait
//	reconnect        answers them
//	relist           answers them, after the server has dropped its history
//	synced, unsynced asserts that the informer and each handler are, or that none of them is
func (p *player) play(text string) {
	for _, step := range steps(text) {
		words := strings.Fields(step)
		switch words[0] {
		case "set":
			for _, value := range words[2:] {
				p.set(words[1], value)
			}
		case "delete":
			p.source.Delete(words[1])
		case "join":
			p.join(words[1])
		case "remove":
			if i, _ := strconv.Atoi(words[1]); i < len(p.registrations) {
				assert.NoError(p, p.informer.RemoveEventHandler(p.registrations[i]))
				p.removed[i] = true
			}
		case "lose":
			p.source.Lose(words[1])
			p.source.SendError(Expired("an object was lost"))
		case "cut":
			p.source.Cut(nil)
		case "expire":
			p.source.SendError(Expired("the position is too old"))
		case "after":
			time.Sleep(p.duration(words[1]))
			p.waitIdle()
		case "wait":
			p.waitIdle()
		case "disconnect":
			p.reconnect = p.disconnect()
		case "reconnect":
			p.reconnect()
			time.Sleep(relistDelay)
		case "relist":
			p.relist(p.reconnect)
		case "synced", "unsynced":
			assert.Equal(p, step == "synced", p.informer.HasSynced(), "whether the informer is synced")
			for i, r := range p.registrations {
				assert.Equal(p, step == "synced", r.HasSynced(), "whether handler %d is synced", i)
			}
		default:
			require.Fail(p, "unknown step", step)
		}
		if !p.burst {
			p.waitIdle()
		}
	}
}
