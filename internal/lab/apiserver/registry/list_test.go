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

func (w *world) list(t registry.Target, o api.ListOptions) *registry.Page {
	w.t.Helper()
	page, err := w.List(t, o)
	require.NoError(w.t, err)
	return page
}

func (w *world) makeSome(count int) {
	for i := range count {
		w.make(w.cm(""), fmt.Sprintf(`{"metadata":{"name":"c%d","labels":{"parity":"%d"}}}`, i, i%2))
	}
}

// After the history was compacted the client may start again or read the rest in its latest state.
func TestExpiredContinueTokens(t *testing.T) {
	w := newWorld(t)
	w.makeSome(4)
	first := w.list(w.cm(""), api.ListOptions{Limit: 2})
	w.delete(w.cm("c2"), api.DeleteOptions{})
	w.store.Compact()
	_, err := w.List(w.cm(""), api.ListOptions{Limit: 2, Continue: first.Continue})
	status := refused(t, err, 410,
		"The provided continue parameter is too old to display a consistent list result. You can start a new "+
			"list without the continue parameter, or use the continue token in this response to retrieve the "+
			"remainder of the results. Continuing with the provided token results in an inconsistent list - objects "+
			"that were created, modified, or deleted between the time the first chunk was returned and now may show "+
			"up in the list.")
	assert.True(t, api.IsExpired(status))
	rest := w.list(w.cm(""), api.ListOptions{Limit: 2, Continue: status.Status.Continue})
	assert.Equal(t, []string{"c3"}, namesOf(rest))
	assert.Equal(t, w.store.Version(), rest.Version)
}

// A replica whose watch cache lags answers what it has; a client that has seen more must retry.
func TestAReplicaThatLags(t *testing.T) {
	lag := uint64(0)
	w := newWorld(t, func(c *registry.Config) { c.Lag = func() uint64 { return lag } })
	w.makeSome(4)
	last := w.store.Version()
	lag = 2
	assert.Equal(t, []string{"c0", "c1"}, namesOf(w.list(w.cm(""), api.ListOptions{ResourceVersion: "0"})))
	assert.Len(t, w.list(w.cm(""), api.ListOptions{}).Items, 4, "a read of the latest version does not lag")
	_, err := w.Get(w.cm("c3"), api.GetOptions{ResourceVersion: "0"})
	assert.True(t, api.IsNotFound(err), "%v", err)
	_, err = w.Get(w.cm("c3"), api.GetOptions{ResourceVersion: fmt.Sprint(last)})
	refused(t, err, 504, fmt.Sprintf("Timeout: Too large resource version: %d, current: %d", last, last-2))
	_, err = w.List(w.cm(""), api.ListOptions{ResourceVersion: fmt.Sprint(last)})
	assert.True(t, api.IsTooLargeResourceVersion(err), "%v", err)
	lag = 1000
	assert.Empty(t, w.list(w.cm(""), api.ListOptions{ResourceVersion: "0"}).Items)
	w.store.Compact()
	assert.Len(t, w.list(w.cm(""), api.ListOptions{ResourceVersion: "0"}).Items, 4, "compacted history cannot be shown")
}

// Which versions a list may have. The answers are those of kube-apiserver 1.36.
func TestListsOfVersions(t *testing.T) {
	w := newWorld(t)
	w.makeSome(2)
	assert.Len(t, w.list(w.cm(""), api.ListOptions{ResourceVersion: "0", Limit: 1}).Items, 2,
		"a list of any version has no pages")
	w.store.Compact()
	current := w.store.Version()
	tooLarge := fmt.Sprintf("Timeout: Too large resource version: 99999, current: %d", current)
	const compacted = "The resourceVersion for the provided list is too old."
	for _, c := range []struct {
		options api.ListOptions
		code    int
		message string
	}{
		{api.ListOptions{ResourceVersion: "1", ResourceVersionMatch: "Exact"}, 410, compacted},
		{api.ListOptions{ResourceVersion: "1", Limit: 1}, 410, compacted},
		{api.ListOptions{ResourceVersion: "99999"}, 504, tooLarge},
	} {
		_, err := w.List(w.cm(""), c.options)
		refused(t, err, c.code, c.message)
	}
	page := api.ListOptions{Limit: 3}
	page.Continue = w.list(w.ns(""), page).Continue
	assert.Equal(t, []string{"kube-system"}, namesOf(w.list(w.ns(""), page)), "the second page without namespaces")
}

func TestWhereAWatchBegins(t *testing.T) {
	w := newWorld(t)
	w.makeSome(2)
	present, err := w.WatchFrom(w.cm(""), api.ListOptions{ResourceVersionMatch: api.MatchNotOlderThan}, true)
	require.NoError(t, err)
	first := w.store.Version() + 1
	future := w.watch(w.cm(""), api.ListOptions{ResourceVersion: fmt.Sprint(first)})
	streamed := w.watch(w.cm(""), api.ListOptions{SendInitialEvents: true, ResourceVersionMatch: api.MatchNotOlderThan})
	_, upToDate := streamed.Progress()
	assert.False(t, upToDate, "no bookmark may come before the initial events")
	assert.Len(t, read(t, streamed), 2, "no bookmark that the client does not allow")
	version, _ := future.Progress()
	assert.Equal(t, first, version, "a bookmark is not before the version that was asked for")
	w.delete(w.cm("c0"), api.DeleteOptions{})
	w.delete(w.cm("c1"), api.DeleteOptions{})
	last := fmt.Sprintf("DELETED c1 %d", first+1)
	assert.Equal(t, []string{fmt.Sprintf("DELETED c0 %d", first), last}, read(t, present), "no state at the beginning")
	assert.Equal(t, []string{last}, read(t, future), "after a version that was in the future")
}

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
			w.make(w.at("configmaps", "kube-system", ""), `{"metadata":{"name":"other"}}`)
			w.delete(w.cm("c1100"), api.DeleteOptions{}) // reported after the list, which shows one version
		}
	}
	assert.Equal(t, 1201, total)
	assert.Equal(t, 3, parts)
	events, err := next(ctx, watch)
	require.NoError(t, err)
	assert.Equal(t, api.WatchDeleted, events[0].Type, "a watch of one namespace has the events of that")
	assert.Equal(t, "c1100", events[0].Object.Key.Name)
}
