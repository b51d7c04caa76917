package informertest_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/informertest"
	"orrery/restclient/api"
)

type (
	source = informertest.FakeSource[*api.Namespace]
	events = api.Watcher[*api.Namespace]
)

func withContent(names ...string) *source {
	s := informertest.NewNamespaceSource()
	for _, name := range names {
		s.Add(informertest.Namespace(name))
	}
	return s
}

func watch(t *testing.T, s *source, opts api.ListOptions) events {
	w, err := s.Watch(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	return w
}

// next returns the next event as TYPE name@version.
func next(t *testing.T, w events) string {
	event, err := w.Next()
	require.NoError(t, err)
	out := string(event.Type)
	if event.Object != nil {
		out += " " + event.Object.Name
	}
	if event.InitialEventsEnd {
		out += " initial"
	}
	return out + "@" + event.ResourceVersion
}

// What breaks the suites of the reflector as well has no test here.

func TestWatchReplaysWhatHappenedAfterItsVersion(t *testing.T) {
	s := withContent("a", "b")
	list, err := s.List(t.Context(), api.ListOptions{ResourceVersion: "0"})
	require.NoError(t, err)
	require.Equal(t, "3", list.ResourceVersion)
	s.Modify(informertest.Namespace("a"))
	assert.True(t, s.Delete("b"))
	assert.False(t, s.Delete("b"))
	w := watch(t, s, api.ListOptions{ResourceVersion: list.ResourceVersion})
	s.Add(informertest.Namespace("c"))
	assert.Equal(t, "MODIFIED a@4", next(t, w))
	assert.Equal(t, "DELETED b@5", next(t, w))
	assert.Equal(t, "ADDED c@6", next(t, w))
	assert.Equal(t, "6", s.ResourceVersion())
	assert.Len(t, s.Objects(), 2)
	assert.Equal(t, "3", list.Items[1].ResourceVersion, "an object that was handed out does not change")
}

// TestPagesShowOneMoment: changes between two pages are not in the list; a watch from its version
// delivers them.
func TestPagesShowOneMoment(t *testing.T) {
	s := withContent("a", "b", "c")
	all, err := s.List(t.Context(), api.ListOptions{ResourceVersion: "0", Limit: 2})
	require.NoError(t, err)
	assert.Len(t, all.Items, 3, "a watch cache ignores the limit")

	s.Change(func(b *informertest.Behaviour) { b.PageAlways = true })
	first, err := s.List(t.Context(), api.ListOptions{ResourceVersion: "0", Limit: 2})
	require.NoError(t, err)
	require.Len(t, first.Items, 2)
	s.Delete("c")
	second, err := s.List(t.Context(), api.ListOptions{Limit: 2, Continue: first.Continue})
	require.NoError(t, err)
	assert.Equal(t, "c", second.Items[0].Name)
	assert.Equal(t, first.ResourceVersion, second.ResourceVersion)
	assert.Empty(t, second.Continue)
	assert.Equal(t, "DELETED c@5", next(t, watch(t, s, api.ListOptions{ResourceVersion: second.ResourceVersion})))

	s.Expire()
	_, err = s.List(t.Context(), api.ListOptions{Limit: 2, Continue: first.Continue})
	assert.True(t, api.IsExpired(err))
}

func TestErrorEventEndsTheStream(t *testing.T) {
	s := withContent()
	w := watch(t, s, api.ListOptions{ResourceVersion: "1"})
	s.SendError(informertest.Expired("too old"))
	event, err := w.Next()
	require.NoError(t, err)
	assert.Equal(t, api.WatchError, event.Type)
	assert.True(t, api.IsExpired(api.NewStatusError(*event.Status)))
	_, err = w.Next()
	assert.Equal(t, io.EOF, err)
}
