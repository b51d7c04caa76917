package fast_test

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
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
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
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
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
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
		assert.Equal(t, 2, discovery.forgotten,
			"a namespace got an answer of discovery that may be older than its grace period")
	})
}

func TestTypesAreDeletedInParallelWithinTheBound(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
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
		deleter := nsctltest.NewDeleter(t, c, fast.NewDeleter,
			func(config *nsctl.DeleterConfig) { config.Concurrency = 4 })
		started := time.Now()
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		assert.Equal(t, 4, most)
		assert.Equal(t, 20*time.Millisecond*(1+8), time.Since(started), "pods alone, then 29 types, four at a time")
	})
}

func TestContract(t *testing.T) {
	nsctltest.Run(t, nsctltest.Form{New: fast.NewDeleter})
}

func isEmptinessCheck(request string) bool {
	return strings.HasPrefix(request, "GET /api") && !strings.Contains(request, "/namespaces") &&
		strings.Count(request, "/") > 2
}

// A type that is empty everywhere is listed once for many namespaces, not once for each.
func TestManyNamespacesShareOneCheck(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		names := nsctltest.Crowd(c, 50)
		var checks atomic.Int32
		nsctltest.StartController(t, c, fast.NewDeleter, func(_ *nsctl.Config, config *nsctl.DeleterConfig) {
			config.Trace = &nsctl.Trace{EmptinessChecked: func(_ context.Context, types, seen int, _ time.Duration) {
				checks.Add(1)
				assert.Equal(t, 30, types)
				assert.Equal(t, 29, seen, "there are more ConfigMaps than fit on a page")
			}}
		})
		time.Sleep(10 * time.Second)
		nsctltest.AssertAllGone(t, c, names)
		requests := c.Log()
		// One check serves all passes that overlap; how many passes that are depends on the
		// scheduler.
		made := int(checks.Load())
		assert.Positive(t, made)
		assert.Less(t, made, 5)
		assert.Equal(t, 30*made, len(slices.DeleteFunc(slices.Clone(requests),
			func(r string) bool { return !isEmptinessCheck(r) })))
		assert.Equal(t, 50, strings.Count(strings.Join(requests, "\n"), "/finalize"))
		// GET; GET, DELETE and LIST for the ConfigMaps; finalize. For the first few passes, which were
		// alone, all types.
		assert.Less(t, len(requests), 50*5+30*made+3*36, "upstream needs 3,400")
	})
}

// countChecks returns a trace that counts the emptiness checks.
func countChecks(checks *atomic.Int32) *nsctl.Trace {
	return &nsctl.Trace{EmptinessChecked: func(context.Context, int, int, time.Duration) { checks.Add(1) }}
}

// Three passes at a time are worth a check, which they share. Fewer are not.
func TestThreePassesAtATimeAreWorthACheck(t *testing.T) {
	for passes, want := range map[int]int32{1: 0, 2: 0, 3: 1} {
		nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
			c.Before("", "", func() { time.Sleep(time.Second) }) // until all passes have begun
			var checks atomic.Int32
			deleter := nsctltest.NewDeleter(t, c, fast.NewDeleter,
				func(config *nsctl.DeleterConfig) { config.Trace = countChecks(&checks) })
			var running sync.WaitGroup
			for i := range passes {
				c.AddNamespace(strconv.Itoa(i), true, "kubernetes")
				running.Go(func() { assert.NoError(t, deleter.Delete(t.Context(), strconv.Itoa(i))) })
			}
			running.Wait()
			assert.Equal(t, want, checks.Load(), "%d passes", passes)
			assert.Equal(t, want > 0, slices.ContainsFunc(c.Log(), isEmptinessCheck))
			c.AddNamespace("alone", true, "kubernetes")
			assert.NoError(t, deleter.Delete(t.Context(), "alone"))
			assert.Equal(t, want, checks.Load(), "passes that have ended do not count")
		})
	}
}

// A check counts for namespaces that had settled when it began. Later ones may have new content.
func TestACheckProvesNothingAboutLaterNamespaces(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		names := nsctltest.Crowd(c, 10)
		hold := make(chan struct{})
		c.Before(http.MethodDelete, "/ns-00/configmaps", func() { <-hold }) // blocks this pass, and the check with it
		var checks atomic.Int32
		nsctltest.StartController(t, c, fast.NewDeleter, func(_ *nsctl.Config, config *nsctl.DeleterConfig) {
			config.Trace = countChecks(&checks)
		})
		time.Sleep(2 * time.Millisecond)
		c.AddNamespace("later", true, "kubernetes") // its grace period ends just after the check
		time.Sleep(5*time.Second - time.Millisecond)
		require.Equal(t, int32(1), checks.Load())

		c.Put("deployments.apps", "later", "web") // a server that does not know of the deletion yet
		time.Sleep(10 * time.Second)
		assert.Nil(t, c.Namespace("later"))
		assert.Empty(t, c.Left("later"), "there was no Deployment when the check was made")
		close(hold)
		synctest.Wait()
		nsctltest.AssertAllGone(t, c, names)
	})
}

// A namespace of the same name is another namespace.
func TestACheckProvesNothingAboutARecreatedNamespace(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		names := nsctltest.Crowd(c, 10)
		var recreated atomic.Bool
		c.Refuse(func(r *http.Request) *api.Status {
			if r.URL.Path == "/api/v1/namespaces/ns-09" && r.Method == http.MethodGet &&
				recreated.CompareAndSwap(false, true) {
				time.Sleep(time.Second) // until the check has been made
				c.AddNamespace("ns-09", true, "kubernetes")
				c.Put("deployments.apps", "ns-09", "web")
			}
			return nil
		})
		workers := func(config *nsctl.Config, _ *nsctl.DeleterConfig) { config.Pool.Workers = 10 }
		nsctltest.StartController(t, c, fast.NewDeleter, workers)
		time.Sleep(20 * time.Second)
		assert.True(t, recreated.Load())
		nsctltest.AssertAllGone(t, c, names)
	})
}

// A type that cannot be listed in all namespaces is handled in each of them.
func TestTypesThatACheckCannotSee(t *testing.T) {
	tests := map[string]func(r *http.Request) *api.Status{
		"may not be listed everywhere": func(r *http.Request) *api.Status {
			if r.URL.Path == "/apis/apps/v1/deployments" {
				return nsctltest.Status(403, api.ReasonForbidden, "not in all namespaces")
			}
			return nil
		},
		"hangs": func(r *http.Request) *api.Status { // and the pods of all passes must not wait for it
			if r.URL.Path == "/apis/apps/v1/deployments" {
				<-r.Context().Done()
			}
			return nil
		},
		"fails": func(r *http.Request) *api.Status {
			if isEmptinessCheck(r.Method + " " + r.URL.Path) {
				return nsctltest.Status(500, api.ReasonInternalError, "out of order")
			}
			return nil
		},
	}
	for name, refuse := range tests {
		nsctltest.BubbleRun(t, name, func(t *testing.T, c *nsctltest.Cluster) {
			names := nsctltest.Crowd(c, 20)
			c.Put("deployments.apps", "ns-11", "web")
			c.Put("pods.", "ns-12", "p", nsctltest.RunningPod(0))
			c.Refuse(refuse)
			nsctltest.StartController(t, c, fast.NewDeleter, nil)
			time.Sleep(20 * time.Second)
			nsctltest.AssertAllGone(t, c, names)
		})
	}
}

// Pods are deleted first among many namespaces, too.
func TestPodsThatACheckHasSeenGoFirst(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		names := nsctltest.Crowd(c, 20)
		for _, name := range names {
			c.Put("networkpolicies.networking.k8s.io", name, "deny-all")
		}
		c.Put("pods.", "ns-07", "slow", nsctltest.RunningPod(30))
		nsctltest.StartController(t, c, fast.NewDeleter, nil)
		time.Sleep(20 * time.Second)
		assert.Equal(t, []string{"configmaps./a", "networkpolicies.networking.k8s.io/deny-all", "pods./slow"},
			c.Left("ns-07"))
		time.Sleep(time.Minute)
		nsctltest.AssertAllGone(t, c, names)
	})
}

// The server is distant: independent requests are made in parallel.
func TestAPassIsSevenRoundTripsLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const distance = 20 * time.Millisecond
		c := nsctltest.NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Refuse(func(r *http.Request) *api.Status {
			if r.URL.Query().Get("watch") == "" {
				time.Sleep(distance)
			}
			return nil
		})
		var took time.Duration
		r := nsctltest.StartController(t, c, fast.NewDeleter, func(config *nsctl.Config, _ *nsctl.DeleterConfig) {
			config.Trace = &nsctl.Trace{PassDone: func(_ string, d time.Duration, _ int, err error) {
				took = d
				assert.NoError(t, err)
			}}
		})
		time.Sleep(10 * time.Second)
		assert.Nil(t, c.Namespace("ns"))
		r.Stop()
		assert.Equal(t, 7*distance, took,
			"namespace; readiness; both documents of discovery; pods; two for everything else; finalize")
	})
}
