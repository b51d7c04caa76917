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
		events, more, err := watch.Poll()
		if err != nil {
			return append(lines, err.Error())
		}
		if more != nil {
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

// next returns the next events of a watch. It blocks until there are some or ctx ends.
func next(ctx context.Context, watch *registry.Watch) ([]registry.Event, error) {
	for {
		events, more, err := watch.Poll()
		if err != nil || more == nil {
			return events, err
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil, ctx.Err()
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
	watch := w.watch(w.cm(""), api.ListOptions{SendInitialEvents: true, ResourceVersionMatch: api.MatchNotOlderThan,
		AllowWatchBookmarks: true})
	total, parts := 0, 0
	for {
		events, err := next(ctx, watch)
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
	events, err := next(ctx, watch)
	require.NoError(t, err)
	assert.Equal(t, api.WatchDeleted, events[0].Type)
	assert.Equal(t, "c1100", events[0].Object.Key.Name)
}
