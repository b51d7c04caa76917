package integration_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

// TestAnyHistory plays a random history of changes and faults over a random way. After the faults
// the stores equal the server and the handlers' histories lead to the same state. Informers stopped
// at any time end at once and leave nothing behind.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		over := rapid.SampledFrom(ways).Draw(rt, "way")
		options := settings{
			Config: reflector.Config[*api.Namespace]{
				DisableWatchList: rapid.Bool().Draw(rt, "no streaming lists"),
				PageSize:         rapid.SampledFrom([]int64{0, 2}).Draw(rt, "page size"),
				MinWatchTimeout:  rapid.SampledFrom([]time.Duration{0, 20 * time.Second}).Draw(rt, "watch timeout"),
			},
			resync: rapid.SampledFrom([]time.Duration{0, 7 * time.Second}).Draw(rt, "resync"),
			gears:  rapid.SampledFrom([]string{"fast", "textbook", "coalescing"}).Draw(rt, "gears"),
		}
		script := rapid.SliceOfN(drawStep, 1, 40).Draw(rt, "script")
		if options.gears == "textbook" {
			script = withoutSilence(script)
		}
		interrupted := rapid.Bool().Draw(rt, "interrupted")
		var err error
		synctest.Test(t, func(t *testing.T) { err = playHistory(t, over, options, script, interrupted) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// withoutSilence replaces silent connections by broken ones in a script. The textbook reflector has
// no idle timeout and does not notice silence.
func withoutSilence(script []step) []step {
	script = slices.Clone(script)
	for i := range script {
		if script[i].What == "silence" {
			script[i].What = "cut"
		}
		if script[i].Fault == "hang" || script[i].Fault == "stalled" {
			script[i].Fault = "reset"
		}
	}
	return script
}

// step is one event of a history. Which fields matter depends on the kind.
type step struct {
	What, Key, Fault string
	Index            int // of the handler that is removed
	Wait             time.Duration
}

var drawStep = rapid.Custom(func(t *rapid.T) step {
	return step{
		What: rapid.SampledFrom([]string{
			"set", "set", "set", "delete", "lose", "touch", "bookmark", "bookmark", "expire", "end", "error", "fail list",
			"fail watch", "cut", "silence", "refuse", "accept", "join", "leave", "streaming",
		}).Draw(t, "what"),
		Key: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "key"),
		Fault: rapid.SampledFrom([]string{
			"ok", "hang", "reset", "torn", "stalled", "no-upgrade", "410", "429", "429/5s", "500", "503/2s", "403", "too-large",
		}).Draw(t, "fault"),
		Index: rapid.IntRange(0, 3).Draw(t, "index"),
		Wait: rapid.SampledFrom([]time.Duration{
			0, 0, 0, time.Millisecond, 500 * time.Millisecond, time.Second, 10 * time.Second, time.Minute, 4 * time.Minute,
		}).Draw(t, "wait"),
	}
})

// longRest is longer than any timeout: a list that hangs, a silent watch, a back-off.
const longRest = 10 * time.Minute

func playHistory(t *testing.T, over way, options settings, script []step, interrupted bool) (err error) {
	w := newWorld(t, over, nil)
	w.settings = options
	w.set("a", "before")
	w.run()
	defer func() {
		began := time.Now()
		err = errors.Join(err, w.stop())
		if took := time.Since(began); took > 0 {
			err = errors.Join(err, fmt.Errorf("the end took %s", took))
		}
	}()
	for i, s := range script {
		w.happen(t, s, strconv.Itoa(i))
		time.Sleep(s.Wait)
		if s.Wait > 0 || i%2 == 0 {
			synctest.Wait()
		}
	}
	if interrupted {
		return nil
	}
	w.server.Refuse(false)
	w.each(func(c *collection) { c.source.ClearFaults() })
	time.Sleep(longRest)
	synctest.Wait() // a watch may just be replaced
	// Events lost while no watch was open are found by a list.
	w.each(func(c *collection) { c.source.SendError(informertest.Expired("to be certain")) })
	time.Sleep(longRest)
	synctest.Wait()
	return w.verify()
}

func (w *world) happen(t *testing.T, s step, value string) {
	switch s.What {
	case "cut":
		w.server.CloseConnections()
	case "silence":
		w.server.Silence()
	case "refuse", "accept":
		w.server.Refuse(s.What == "refuse")
	case "join":
		w.join()
	case "leave":
		w.leave(s.Index)
	default:
		w.each(func(c *collection) { c.happen(t, s, value) })
	}
}

func (c *collection) happen(t *testing.T, s step, value string) {
	err := faultOf(t, s.Fault)
	switch s.What {
	case "set":
		c.set(s.Key, value)
	case "delete":
		c.source.Delete(c.keyOf(s.Key))
	case "lose":
		c.source.Lose(c.keyOf(s.Key))
	case "touch":
		c.source.AdvanceVersion()
	case "bookmark":
		c.source.SendBookmark()
	case "expire":
		c.source.AdvanceVersion()
		c.source.Expire()
	case "end":
		if fault, broken := errors.AsType[fault](err); broken {
			c.source.Cut(fault)
		} else {
			c.source.Cut(nil)
		}
	case "error":
		if status, refused := errors.AsType[*api.StatusError](err); refused {
			c.source.SendError(status)
		}
	case "fail list":
		c.source.FailList(err)
	case "fail watch":
		c.source.FailWatch(err)
	case "streaming":
		c.source.SetStreamingList(informertest.StreamingList(s.Index))
	}
}

func (w *world) leave(handler int) {
	for _, s := range w.subjects {
		if err := s.leave(handler); err != nil {
			w.t.Errorf("%s: %v", s.on().kind, err)
		}
	}
}
