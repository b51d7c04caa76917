package machine_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/informer/reflector/machine"
	"orrery/restclient/api"
)

// TestHandlersMayLookInside: hooks, the error handler and the store may ask the Reflector for its state.
func TestHandlersMayLookInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var phases []reflector.Phase
		look := func() { phases = append(phases, f.Snapshot().Phase); f.LastSyncResourceVersion() }
		f.config.WatchErrorHandler = func(context.Context, error) { look() }
		f.config.Trace = &reflector.Trace{BackOff: func(time.Duration, error) { look() }}
		f.store.onCall = func(string) error { look(); return nil }
		f.source.FailList(io.ErrUnexpectedEOF)
		stop := f.run()
		synctest.Wait()
		assert.Equal(t, []reflector.Phase{reflector.PhaseListing, reflector.PhaseListing}, phases, "the state before the step")
		waiting := f.Snapshot()
		assert.Equal(t, reflector.PhaseBackingOff, waiting.Phase)
		assert.Equal(t, 1, waiting.Failures)
		assert.Greater(t, time.Until(waiting.NextAttempt), 799*time.Millisecond)
		assert.LessOrEqual(t, time.Until(waiting.NextAttempt), 1600*time.Millisecond)
		time.Sleep(2 * time.Second)
		assert.Equal(t, "1", f.LastSyncResourceVersion())
		assert.Zero(t, f.Snapshot().NextAttempt)
		stop()
	})
}

// TestTheHandlerMayStopTheReflector: a program that gives up when it is forbidden to list cancels from its handler.
func TestTheHandlerMayStopTheReflector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.source.FailList(informertest.StatusError(403, api.ReasonForbidden, "no"))
		ctx, cancel := context.WithCancel(context.Background())
		f.config.WatchErrorHandler = func(_ context.Context, err error) {
			assert.True(t, api.IsForbidden(err))
			cancel()
		}
		machine.New(f.config).Run(ctx)
		assert.Len(t, f.requests("list"), 1)
	})
}

func TestTraceTellsTheStory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var phases []string
		var pages []reflector.PageInfo
		var lists []reflector.ListInfo
		var started []string
		var marks []string
		f.config.PageSize = 2
		f.config.Trace = &reflector.Trace{
			StateChanged: func(from, to reflector.Phase, on string) {
				phases = append(phases, from.String()+" -"+on+"-> "+to.String())
			},
			PageListed:   func(p reflector.PageInfo) { pages = append(pages, p) },
			Listed:       func(l reflector.ListInfo) { lists = append(lists, l) },
			WatchStarted: func(o api.ListOptions) { started = append(started, o.ResourceVersion) },
			Bookmark:     func(rv string, initial bool) { marks = append(marks, rv) },
		}
		f.source.SetPaging(true)
		f.source.SetLatency(time.Second)
		for _, name := range []string{"a", "b", "c"} {
			f.source.Add(informertest.Namespace(name))
		}
		stop := f.run()
		time.Sleep(5 * time.Second)
		f.source.SendBookmark()
		synctest.Wait()
		stop()
		assert.Equal(t, []string{
			"Idle -Start-> Listing", "Listing -PageListed-> Replacing", "Replacing -Replaced-> OpeningWatch", "OpeningWatch -Opened-> Watching",
			"Watching -Stop-> Stopped"}, phases)
		assert.Equal(t, []reflector.PageInfo{
			{ResourceVersion: "4", Page: 1, Items: 2, More: true}, {ResourceVersion: "4", Page: 2, Items: 1}}, pages)
		assert.Equal(t, []reflector.ListInfo{{ResourceVersion: "4", Items: 3, Pages: 2, Duration: 2 * time.Second}}, lists)
		assert.Equal(t, []string{"4"}, started)
		assert.Equal(t, []string{"4"}, marks)
	})
}

func TestTraceOfAStreamingList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		var lists []reflector.ListInfo
		var marks []bool
		events := 0
		f.config.DisableWatchList, f.config.KeyFunc = false, nameOf
		f.config.Trace = &reflector.Trace{
			Listed:   func(l reflector.ListInfo) { lists = append(lists, l) },
			Bookmark: func(_ string, initial bool) { marks = append(marks, initial) },
			Event:    func(api.WatchEventType, string) { events++ },
		}
		f.source.Add(informertest.Namespace("a"))
		stop := f.run()
		synctest.Wait()
		stop()
		assert.Equal(t, []reflector.ListInfo{{ResourceVersion: "2", Items: 1, Streamed: true}}, lists)
		assert.Equal(t, []bool{true}, marks)
		assert.Equal(t, 1, events)
	})
}
