package machine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/restclient/api"
)

func TestTraceReportsEachStep(t *testing.T) {
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
			Event:    func(reflector.EventInfo) { events++ },
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
