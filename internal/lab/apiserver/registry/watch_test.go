package registry_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

// read returns the pending events of a watch, one line each.
func read(t *testing.T, watch *registry.Watch) []string {
	t.Helper()
	lines := []string{}
	for {
		select {
		case <-watch.Wait():
		default:
			return lines
		}
		ended, cancel := context.WithCancel(ctx)
		cancel() // pending events are returned, but Next does not block
		events, err := watch.Next(ended)
		if err != nil {
			if err != context.Canceled {
				lines = append(lines, err.Error())
			}
			return lines
		}
		for _, e := range events {
			line := string(e.Type)
			if e.Object != nil {
				line += fmt.Sprintf(" %s %d", e.Object.Key.Name, e.Version)
			}
			if e.InitialEventsEnd {
				line += " end"
			}
			lines = append(lines, line)
		}
	}
}

func (w *world) watch(t registry.Target, o api.ListOptions) *registry.Watch {
	w.t.Helper()
	watch, err := w.Watch(t, o)
	require.NoError(w.t, err)
	return watch
}

func TestManyInitialEventsComeInBatches(t *testing.T) {
	w := newWorld(t)
	for i := range 1200 {
		w.make(w.cm(""), fmt.Sprintf(`{"metadata":{"name":"c%04d"}}`, i))
	}
	watch := w.watch(w.cm(""), api.ListOptions{SendInitialEvents: true, ResourceVersionMatch: api.MatchNotOlderThan, AllowWatchBookmarks: true})
	total, parts := 0, 0
	for {
		events, err := watch.Next(ctx)
		require.NoError(t, err)
		parts++
		total += len(events)
		if events[len(events)-1].InitialEventsEnd {
			break
		}
		if parts == 1 {
			w.delete(w.cm("c1100"), api.DeleteOptions{}) // reported after the list, which shows one version
		}
	}
	assert.Equal(t, 1201, total)
	assert.Equal(t, 3, parts)
	events, err := watch.Next(ctx)
	require.NoError(t, err)
	assert.Equal(t, api.WatchDeleted, events[0].Type)
	assert.Equal(t, "c1100", events[0].Object.Key.Name)
}
