package machine_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"orrery/informer/informertest"
	"orrery/informer/reflector/reflectortest"
	"orrery/restclient/api"
)

// An aggregated API server may count the changes of each object separately, as no server of
// Kubernetes' own does. Its lower numbers used to be dropped as stale. Its lists show what it is.
func TestVersionsOfAServerThatCountsForEachObject(t *testing.T) {
	tests := map[string]struct {
		list  *api.List[*api.Namespace]
		known bool // that they are not comparable
	}{
		"an object is newer than the list":  {reflectortest.ListOf("1", "", reflectortest.NamespaceAt("a", "7"), reflectortest.NamespaceAt("b", "1")), true},
		"two objects have the same version": {reflectortest.ListOf("9", "", reflectortest.NamespaceAt("a", "3"), reflectortest.NamespaceAt("b", "3")), true},
		"both, beyond the sample of versions": {reflectortest.ListOf("1000", "", append(ascending(100),
			reflectortest.NamespaceAt("a", "1001"), reflectortest.NamespaceAt("b", "99"))...), true},
		"one counter":                   {reflectortest.ListOf("9", "", reflectortest.NamespaceAt("a", "3"), reflectortest.NamespaceAt("b", "9")), false},
		"one counter and a large list":  {reflectortest.ListOf("1000", "", ascending(200)...), false},
		"no versions":                   {reflectortest.ListOf("9", "", informertest.Namespace("a"), informertest.Namespace("b")), false},
		"nothing":                       {reflectortest.ListOf("9", ""), false},
		"versions that are no numbers":  {reflectortest.ListOf("9", "", reflectortest.NamespaceAt("a", "x"), reflectortest.NamespaceAt("b", "x")), false},
		"a list's that is not a number": {reflectortest.ListOf("x", "", reflectortest.NamespaceAt("a", "7"), reflectortest.NamespaceAt("b", "7")), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				events := make(chan api.WatchEvent[*api.Namespace])
				f.config.ListerWatcher = reflectortest.Scripted{
					OnList: func(context.Context, api.ListOptions) (*api.List[*api.Namespace], error) {
						list := *test.list
						return &list, nil
					},
					OnWatch: func(ctx context.Context, _ api.ListOptions) (api.Watcher[*api.Namespace], error) {
						return &reflectortest.ChannelWatcher{Ctx: ctx, Events: events}, nil
					},
				}
				stop := f.run()
				defer stop()
				events <- api.WatchEvent[*api.Namespace]{Type: api.WatchModified, Object: reflectortest.NamespaceAt("c", "2000"), ResourceVersion: "2000"}
				events <- api.WatchEvent[*api.Namespace]{Type: api.WatchAdded, Object: reflectortest.NamespaceAt("new", "2"), ResourceVersion: "2"}
				synctest.Wait()
				if test.known {
					assert.Contains(t, f.store.State(), "new")
					assert.Zero(t, f.Snapshot().Stale)
				} else {
					assert.NotContains(t, f.store.State(), "new")
					assert.Equal(t, 1, f.Snapshot().Stale)
				}
			})
		})
	}
}

// A later list may be too small to show it.
func TestThatAServerCountsForEachObjectIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		events := make(chan api.WatchEvent[*api.Namespace])
		lists := []*api.List[*api.Namespace]{reflectortest.ListOf("1", "", reflectortest.NamespaceAt("a", "7")), reflectortest.ListOf("9", "")}
		f.config.ListerWatcher = reflectortest.Scripted{
			OnList: func(context.Context, api.ListOptions) (list *api.List[*api.Namespace], _ error) {
				list, lists = lists[0], lists[1:]
				return list, nil
			},
			OnWatch: func(ctx context.Context, _ api.ListOptions) (api.Watcher[*api.Namespace], error) {
				return &reflectortest.ChannelWatcher{Ctx: ctx, Events: events}, nil
			},
		}
		stop := f.run()
		defer stop()
		events <- api.WatchEvent[*api.Namespace]{Type: api.WatchError, Status: &api.Status{Code: 410, Reason: api.ReasonExpired}}
		events <- api.WatchEvent[*api.Namespace]{Type: api.WatchAdded, Object: reflectortest.NamespaceAt("new", "2"), ResourceVersion: "2"}
		synctest.Wait()
		assert.Empty(t, lists, "listed again after the 410")
		assert.Contains(t, f.store.State(), "new", "its version is not older than the empty list's: they are not comparable")
	})
}

// ascending returns n namespaces, each at its own version.
func ascending(n int) []*api.Namespace {
	var out []*api.Namespace
	for i := range n {
		out = append(out, reflectortest.NamespaceAt(fmt.Sprint("n", i), fmt.Sprint(i+1)))
	}
	return out
}
