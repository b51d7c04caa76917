package registry_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

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

func TestWatchersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		watch := w.watch(w.cm(""), api.ListOptions{FieldSelector: "metadata.name=b"})
		waiting, cancel := context.WithCancel(ctx)
		got := make(chan string, 3)
		go func() {
			for {
				events, err := watch.Next(waiting)
				if err != nil {
					got <- err.Error()
					return
				}
				got <- events[0].Object.Key.Name
			}
		}()
		w.make(w.cm(""), `{"metadata":{"name":"a"}}`)
		synctest.Wait()
		assert.Empty(t, got, "not selected")
		w.make(w.cm(""), `{"metadata":{"name":"b"}}`)
		synctest.Wait()
		assert.Equal(t, "b", <-got)
		cancel()
		assert.Equal(t, "context canceled", <-got)
	})
}

func TestWatchBegins(t *testing.T) {
	w := newWorld(t)
	base := w.store.Version()
	w.makeSome(2)
	w.make(w.at("configmaps", "kube-system", ""), `{"metadata":{"name":"other"}}`)
	present := []string{fmt.Sprintf("ADDED c0 %d", base+1), fmt.Sprintf("ADDED c1 %d", base+2)}
	for name, c := range map[string]struct {
		options api.ListOptions
		want    []string
	}{
		"without a version":      {api.ListOptions{}, present},
		"at any version":         {api.ListOptions{ResourceVersion: "0"}, present},
		"after a version":        {api.ListOptions{ResourceVersion: fmt.Sprint(base + 1)}, present[1:]},
		"now":                    {api.ListOptions{ResourceVersion: fmt.Sprint(base + 3)}, []string{}},
		"after a future version": {api.ListOptions{ResourceVersion: fmt.Sprint(base + 100)}, []string{}},
		"with a list": {
			api.ListOptions{SendInitialEvents: true, ResourceVersionMatch: api.MatchNotOlderThan, AllowWatchBookmarks: true}, append(present, "BOOKMARK end"),
		},
		"with a list, without bookmarks": {
			api.ListOptions{SendInitialEvents: true, ResourceVersionMatch: api.MatchNotOlderThan, ResourceVersion: fmt.Sprint(base + 1)}, present,
		},
		"continue is ignored": {api.ListOptions{Continue: "abc", ResourceVersion: fmt.Sprint(base + 1)}, present[1:]},
		"limit is ignored":    {api.ListOptions{Limit: 1}, present},
		"a selection":         {api.ListOptions{LabelSelector: "parity=1"}, present[1:]},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, read(t, w.watch(w.cm(""), c.options)))
		})
	}
}
