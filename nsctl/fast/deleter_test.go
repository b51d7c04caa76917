package fast_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/nsctl/fast"
	"orrery/nsctl/nsctltest"
	"orrery/restclient/api"
)

func TestEmptyNamespaceCostsAtMost36Requests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := nsctltest.NewCluster()
		c.AddNamespace("empty", true, "kubernetes")
		require.NoError(t, nsctltest.NewDeleter(t, c, fast.NewDeleter).Delete(t.Context(), "empty"))

		assert.Nil(t, c.Namespace("empty"))
		requests := c.Log()
		assert.LessOrEqual(t, len(requests), 36, "upstream needs 68")
		assert.Equal(t, []string{"GET /api/v1/namespaces/empty", "GET /readyz"}, requests[:2])
		assert.ElementsMatch(t, []string{"GET /api", "GET /apis"}, requests[2:4])
		assert.Equal(t, "PUT /api/v1/namespaces/empty/finalize", requests[len(requests)-1])
		assert.Equal(t, "GET /api/v1/namespaces/empty/pods", requests[4], "pods go first, right after discovery")
		for _, request := range requests[4 : len(requests)-1] {
			assert.True(t, strings.HasPrefix(request, "GET ") || strings.HasSuffix(request, "/configmaps"),
				"%s: nothing is deleted where a LIST found nothing", request)
		}
	})
}

func TestDiscoveryIsAskedOnceForManyDeletions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := nsctltest.NewCluster()
		for _, name := range []string{"a", "b", "c"} {
			c.AddNamespace(name, true, "kubernetes")
		}
		time.Sleep(5 * time.Second) // the grace period
		deleter := nsctltest.NewDeleter(t, c, fast.NewDeleter)
		for _, name := range []string{"a", "b", "c"} {
			require.NoError(t, deleter.Delete(t.Context(), name))
		}
		assert.Equal(t, 1, nsctltest.Count(c.Log(), "GET /apis"))

		c.AddNamespace("later", true, "kubernetes")
		c.Types["new.example/v1"] = []string{"gadgets"}
		c.Put("gadgets.new.example", "later", "g")
		time.Sleep(5 * time.Second)
		require.NoError(t, deleter.Delete(t.Context(), "later"))
		assert.Equal(t, 1, nsctltest.Count(c.Log(), "GET /apis"), "the answer is older than this deletion")
		assert.Empty(t, c.Left("later"))
	})
}

// slowToForget is a discovery whose Invalidate takes a second, as on a busy machine.
type slowToForget struct {
	nsctl.Discovery
	forgotten int
}

func (d *slowToForget) Invalidate() {
	d.forgotten++
	d.Discovery.Invalidate()
	time.Sleep(time.Second)
}

// Another pass may use discovery as soon as it is invalidated. A namespace that settled after
// that moment must not get the answer.
func TestADiscoveryIsAsOldAsItsBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := nsctltest.NewCluster()
		c.AddNamespace("a", true, "kubernetes")
		b := c.AddNamespace("b", true, "kubernetes")
		var discovery *slowToForget
		deleter := nsctltest.NewDeleter(t, c, fast.NewDeleter, func(config *nsctl.DeleterConfig) {
			discovery = &slowToForget{Discovery: config.Discovery}
			config.Discovery = discovery
		})
		settled := time.Now().Add(time.Second / 2) // while the first pass waits for Invalidate
		require.NoError(t, deleter.Delete(t.Context(), "a"))
		require.Equal(t, 1, discovery.forgotten)
		seen := nsctl.ObservedDeletion{UID: b.UID, Settled: settled}
		require.NoError(t, deleter.Deleter.Delete(t.Context(), "b", seen))
		assert.Equal(t, 2, discovery.forgotten, "a namespace got an answer of discovery that may be older than its grace period")
	})
}

func TestTypesAreDeletedInParallelWithinTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := nsctltest.NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		var mu sync.Mutex
		running, most := 0, 0
		c.Refuse(func(r *http.Request) *api.Status {
			if !strings.Contains(r.URL.Path, "/namespaces/ns/") || strings.HasSuffix(r.URL.Path, "/finalize") {
				return nil
			}
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(20 * time.Millisecond) // a distant server, in virtual time
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		})
		deleter := nsctltest.NewDeleter(t, c, fast.NewDeleter, func(config *nsctl.DeleterConfig) { config.Concurrency = 4 })
		started := time.Now()
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Equal(t, 4, most)
		assert.Equal(t, 20*time.Millisecond*(1+8), time.Since(started), "pods alone, then 29 types, four at a time")
	})
}
