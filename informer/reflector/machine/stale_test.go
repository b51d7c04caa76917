package machine_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"orrery/informer/informertest"
	"orrery/restclient/api"
)

// versionedNamespace is a namespace at a version.
func versionedNamespace(name, version string) *api.Namespace {
	ns := informertest.Namespace(name)
	ns.ResourceVersion = version
	return ns
}

// An aggregated API server may count the changes of each object, as no server of Kubernetes' own does. Its small numbers are news, and
// used to be passed over. Its lists show what it is.
func TestVersionsOfAServerThatCountsForEachObject(t *testing.T) {
	tests := map[string]struct {
		list  *api.List[*api.Namespace]
		known bool // that they are not comparable
	}{
		"an object is newer than the list":  {listOf("1", "", versionedNamespace("a", "7"), versionedNamespace("b", "1")), true},
		"two objects have the same version": {listOf("9", "", versionedNamespace("a", "3"), versionedNamespace("b", "3")), true},
		"both, beyond the sample of versions": {listOf("1000", "", append(ascending(100),
			versionedNamespace("a", "1001"), versionedNamespace("b", "99"))...), true},
		"one counter":                   {listOf("9", "", versionedNamespace("a", "3"), versionedNamespace("b", "9")), false},
		"one counter and a large list":  {listOf("1000", "", ascending(200)...), false},
		"no versions":                   {listOf("9", "", informertest.Namespace("a"), informertest.Namespace("b")), false},
		"nothing":                       {listOf("9", ""), false},
		"versions that are no numbers":  {listOf("9", "", versionedNamespace("a", "x"), versionedNamespace("b", "x")), false},
		"a list's that is not a number": {listOf("x", "", versionedNamespace("a", "7"), versionedNamespace("b", "7")), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t)
				events := make(chan api.WatchEvent[*api.Namespace])
				f.config.ListerWatcher = scripted{
					list: func(context.Context, api.ListOptions) (*api.List[*api.Namespace], error) {
						list := *test.list
						return &list, nil
					},
					watch: func(ctx context.Context, _ api.ListOptions) (api.Watcher[*api.Namespace], error) {
						return &channelWatcher{ctx, events}, nil
					},
				}
				stop := f.run()
				defer stop()
				events <- api.WatchEvent[*api.Namespace]{Type: api.WatchModified, Object: versionedNamespace("c", "2000"), ResourceVersion: "2000"}
				events <- api.WatchEvent[*api.Namespace]{Type: api.WatchAdded, Object: versionedNamespace("new", "2"), ResourceVersion: "2"}
				synctest.Wait()
				if test.known {
					assert.Contains(t, f.store.state(), "new")
					assert.Zero(t, f.Snapshot().Stale)
				} else {
					assert.NotContains(t, f.store.state(), "new")
					assert.Equal(t, 1, f.Snapshot().Stale)
				}
			})
		})
	}
}

// ascending is n namespaces, each at a version of its own.
func ascending(n int) []*api.Namespace {
	var out []*api.Namespace
	for i := range n {
		out = append(out, versionedNamespace(fmt.Sprint("n", i), fmt.Sprint(i+1)))
	}
	return out
}
