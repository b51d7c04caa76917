package informertest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// script is a case as data: what happens to an informer, and what its handlers receive.
type script struct {
	name     string
	resync   time.Duration // the period of the informer
	refuse   bool          // the transform refuses the value "bad", and an index function the key "ns/bad"
	handlers string        // see player.join: "default 15s never"; if empty, "never" or those that join
	before   string        // steps before the start, see player.play
	steps    string        // steps after it
	burst    bool          // no step waits for the informer, so that changes may be merged
	anyOrder bool          // events of different objects have no order
	want     string        // the events of each handler: "add ns/a=1; update ns/a 1->2 | add ns/a=2 (initial)"
	relisted string        // one more event of each, without QuietRelists
	without  Capability
	instead  string // want, if the implementation lacks that capability
	needs    Capability
	reported int // refusals reported as background errors
}

// cases makes a case of each script.
func cases(scripts []script) (all []contractCase) {
	for _, s := range scripts {
		all = append(all, contractCase{s.name, s.run})
	}
	return all
}

func (s script) run(b *bubble) {
	if s.needs != "" && !b.has(s.needs) {
		return
	}
	if s.refuse || strings.Contains(s.handlers+s.steps, "panics") {
		defer b.impl.SurvivePanics()()
	}
	p := newPlayer(b, s.burst)
	cfg := InformerConfig{ResyncPeriod: s.resync, OnError: p.faults.add}
	if s.refuse {
		cfg.Transform = refuse(p.refusing.Load)
		cfg.Index = func(key string) error { return map[string]error{"ns/bad": errRefused}[key] }
	}
	b.make(cfg)
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
	p.verifyReports(s)
	if s.without != "" && !b.has(s.without) {
		assert.Equal(b, steps(s.instead), p.recorders[0].Events(), "the events without %q", s.without)
		return
	}
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

// verifyReports asserts the number of refusals among the background errors.
func (p *player) verifyReports(s script) {
	want := s.reported
	if s.refuse && !p.has(ReportsProcessErrors) {
		want = 0
	}
	isOther := func(err error) bool { return !errors.Is(err, errRefused) }
	assert.Len(p, slices.DeleteFunc(p.faults.all(), isOther), want, "the reported refusals")
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
	latch         latch
	faults        faults
	refusing      atomic.Bool // every value
}

func newPlayer(b *bubble, burst bool) *player {
	return &player{bubble: b, burst: burst, removed: map[int]bool{}, latch: b.newLatch()}
}

// join adds a handler with a resync period: "default", "never" or a duration. A handler that is
// "slow", "leaves" or "panics" has none: it waits in each callback for the step "open", removes
// itself, or panics at the value "bad".
func (p *player) join(kind string) {
	r, resync := &Recorder{}, time.Duration(-1)
	switch kind {
	case "never":
	case "default":
		resync = 0
	case "slow":
		r.During = func(Event) { p.latch.wait() }
	case "leaves":
		i := len(p.registrations)
		r.During = func(Event) { assert.NoError(p, p.informer.RemoveEventHandler(p.registrations[i])) }
	case "panics":
		r.During = func(e Event) {
			if e.New == "bad" {
				panic("a fault in a handler")
			}
		}
	default:
		resync = p.duration(kind)
	}
	registration, err := p.informer.AddEventHandler(r.Handle, resync)
	assert.NoError(p, err)
	p.recorders, p.registrations = append(p.recorders, r), append(p.registrations, registration)
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

// play plays steps, separated by semicolons:
//
//	set ns/a 1 2     gives the object these values, one after the other
//	delete ns/a
//	join 15s         adds a handler, see join
//	remove 0         removes the first handler, if there is one
//	lose ns/a        deletes it unseen, and makes the informer list
//	cut              ends the watches
//	expire           ends them with a 410
//	after 5s, wait   lets the time pass, and the informer come to rest
//	disconnect       ends the watches; requests wait
//	reconnect        answers them
//	relist           answers them, after the server has dropped its history
//	open             lets the slow handlers continue
//	refuse, accept   makes the transform refuse every value, or only "bad" again
//	fail             makes the next list fail, and refuses streaming lists
//	cancel           ends the context of Run
//	running          asserts that Run has not returned
//	received 0 2     asserts how many events the first handler has received
//	holds a=1 b=2    asserts the content of the store
//	synced, unsynced asserts that the informer and each handler are, or that none of them is
//	synced 0         asserts it for the first handler; so does unsynced
//	filled           asserts that the informer is synced
//	panicked 0       asserts that the first handler is synced if it has SyncsAfterPanic
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
			if i := p.number(words[1]); i < len(p.registrations) {
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
		case "open":
			p.latch.open()
		case "refuse", "accept":
			p.refusing.Store(step == "refuse")
		case "fail":
			p.source.Change(func(b *Behaviour) { b.Streaming = StreamingRefused })
			p.source.FailList(errRefused)
		case "cancel":
			p.cancel()
		case "running":
			select {
			case <-p.returned:
				p.Error("Run has returned while a callback was running")
			default:
			}
		case "received":
			assert.Len(p, p.recorders[p.number(words[1])].Events(), p.number(words[2]))
		case "holds":
			var held []string
			for key, value := range p.informer.Content() {
				held = append(held, key+"="+value)
			}
			assert.ElementsMatch(p, words[1:], held)
		case "filled":
			assert.True(p, p.informer.HasSynced(), "the informer is synced")
		case "panicked":
			assert.Equal(p, p.has(SyncsAfterPanic), p.registrations[p.number(words[1])].HasSynced())
		case "synced", "unsynced":
			want := words[0] == "synced"
			if len(words) == 1 {
				assert.Equal(p, want, p.informer.HasSynced(), "whether the informer is synced")
			}
			for i, r := range p.registrations {
				if len(words) == 1 || words[1] == strconv.Itoa(i) {
					assert.Equal(p, want, r.HasSynced(), "whether handler %d is synced", i)
				}
			}
		default:
			require.Fail(p, "unknown step", step)
		}
		if !p.burst {
			p.waitIdle()
		}
	}
}

// runHistories runs random histories of an informer and its handlers. Each handler must have
// received a consistent history, and that of a remaining handler must end in the state of the
// server.
func runHistories(t *testing.T, impl Implementation) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := strings.Join(rapid.SliceOfN(drawStep, 1, 60).Draw(rt, "steps"), "; ")
		cfg := InformerConfig{ResyncPeriod: rapid.SampledFrom([]time.Duration{0, 3 * time.Second}).Draw(rt, "resync")}
		var err error
		synctest.Test(t, func(t *testing.T) { err = playHistory(t, impl, cfg, steps) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// longRest is longer than the longest back-off.
const longRest = 2 * time.Minute

// drawStep returns a step of a player, or several; half of them end with "wait".
var drawStep = rapid.Custom(func(t *rapid.T) string {
	step := rapid.SampledFrom([]string{
		"set KEY VALUE", "set KEY VALUE", "set KEY VALUE", "delete KEY", "lose KEY", "cut", "expire",
		"disconnect; set KEY VALUE; delete ns/a; relist", "join never", "join default", "remove HANDLER", "after 1s",
	}).Draw(t, "step")
	step = strings.NewReplacer(
		"KEY", rapid.SampledFrom([]string{"ns/a", "ns/b", "ns/c", "other/a", "d"}).Draw(t, "key"),
		"VALUE", rapid.StringMatching("[0-9]").Draw(t, "value"),
		"HANDLER", rapid.StringMatching("[0-5]").Draw(t, "handler"),
	).Replace(step)
	if rapid.Bool().Draw(t, "wait") {
		step += "; wait"
	}
	return step
})

func playHistory(t *testing.T, impl Implementation, cfg InformerConfig, steps string) error {
	t.Cleanup(func() {
		if t.Failed() { // rapid reports only what playHistory returns
			t.Logf("the history: resync %v; %s", cfg.ResyncPeriod, steps)
		}
	})
	p := newPlayer(newBubble(t, impl), true)
	p.make(cfg)
	p.join("never")
	p.start()
	p.play(steps)
	// A "lose" while no watch is open is not noticed: wait until the informer is idle, and list.
	time.Sleep(longRest)
	p.play("expire")
	time.Sleep(longRest)
	synctest.Wait()
	return p.verify()
}

// verify returns the first violation at the end of a history.
func (p *player) verify() error {
	want := content(p.source)
	if got := p.informer.Content(); !maps.Equal(got, want) {
		return fmt.Errorf("the store holds %v, the server %v", got, want)
	}
	if !p.informer.HasSynced() {
		return errors.New("the informer has not synced")
	}
	for i, r := range p.recorders {
		got, err := p.replay(r)
		switch {
		case err != nil:
			return fmt.Errorf("handler %d: %w", i, err)
		case p.removed[i]:
		case !maps.Equal(got, want):
			return fmt.Errorf("handler %d ends at %v, the server at %v", i, got, want)
		case !p.registrations[i].HasSynced():
			return fmt.Errorf("handler %d has not synced", i)
		}
	}
	return nil
}
