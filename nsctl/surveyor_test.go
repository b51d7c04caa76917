package nsctl_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// crowd makes namespaces that are in deletion, each with a ConfigMap, beside one that is not.
func crowd(c *cluster, n int) (names []string) {
	c.addNamespace("bystander", false, "kubernetes")
	c.put("configmaps.", "bystander", "mine")
	for i := range n {
		name := fmt.Sprintf("ns-%02d", i)
		c.addNamespace(name, true, "kubernetes")
		c.put("configmaps.", name, "a")
		names = append(names, name)
	}
	return names
}

func assertAllGone(t *testing.T, c *cluster, names []string) {
	t.Helper()
	for _, name := range names {
		assert.Nil(t, c.namespace(name))
		assert.Empty(t, c.left(name))
	}
	assert.Equal(t, []string{"configmaps./mine"}, c.left("bystander"))
}

func isSurvey(request string) bool {
	return strings.HasPrefix(request, "GET /api") && !strings.Contains(request, "/namespaces") && strings.Count(request, "/") > 2
}

// A type of which nobody holds anything is asked for once, and not once for each namespace.
func TestManyNamespacesAreLookedIntoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		names := crowd(c, 50)
		var surveys atomic.Int32
		r := startController(t, c, func(_ *nsctl.Config, config *nsctl.DeleterConfig) {
			config.Trace = &nsctl.Trace{Surveyed: func(_ context.Context, types, seen int, _ time.Duration) {
				surveys.Add(1)
				assert.Equal(t, 30, types)
				assert.Equal(t, 29, seen, "there are more ConfigMaps than fit on a page")
			}}
		})
		time.Sleep(10 * time.Second)
		assertAllGone(t, c, names)
		requests := c.log()
		assert.Equal(t, int32(1), surveys.Load())
		assert.Equal(t, 30, len(slices.DeleteFunc(slices.Clone(requests), func(r string) bool { return !isSurvey(r) })))
		assert.Equal(t, 50, strings.Count(strings.Join(requests, "\n"), "/finalize"))
		// GET, DELETE and LIST of the ConfigMaps, finalize; for the first few passes, which were alone, all types.
		assert.Less(t, len(requests), 50*4+30+3*35, "the original needs 3,400")
		r.stop()
	})
}

func TestFewNamespacesAreNotWorthASurvey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		names := crowd(c, 2)
		r := startController(t, c, nil)
		time.Sleep(10 * time.Second)
		assertAllGone(t, c, names)
		assert.False(t, slices.ContainsFunc(c.log(), isSurvey))
		r.stop()
	})
}

// One type whose server hangs must not hold up what the survey is for: pods go first, and soon.
func TestASurveyDoesNotWaitForASlowType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		names := crowd(c, 10)
		c.refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodGet && r.URL.Path == "/apis/apps/v1/deployments" {
				<-r.Context().Done()
			}
			return nil
		})
		var seen atomic.Int32
		r := startController(t, c, func(_ *nsctl.Config, config *nsctl.DeleterConfig) {
			config.Trace = &nsctl.Trace{Surveyed: func(_ context.Context, _, types int, _ time.Duration) { seen.Store(int32(types)) }}
		})
		time.Sleep(15 * time.Second)
		assertAllGone(t, c, names)
		assert.Equal(t, int32(28), seen.Load(), "neither the Deployments nor the ConfigMaps, of which there are many")
		r.stop()
	})
}

// What a survey says is true of namespaces that were settled when it began. Those that follow may have got content since.
func TestASurveyIsNotBelievedAboutLaterNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		names := crowd(c, 10)
		hold := make(chan struct{})
		c.refuse(func(r *http.Request) *api.Status {
			if strings.HasSuffix(r.URL.Path, "/ns-00/configmaps") && r.Method == http.MethodDelete {
				<-hold // this pass, and the survey with it, stays for long
			}
			return nil
		})
		var surveys atomic.Int32
		r := startController(t, c, func(_ *nsctl.Config, config *nsctl.DeleterConfig) {
			config.Trace = &nsctl.Trace{Surveyed: func(context.Context, int, int, time.Duration) { surveys.Add(1) }}
		})
		time.Sleep(6 * time.Second)
		require.Equal(t, int32(1), surveys.Load())

		c.addNamespace("later", false, "kubernetes")
		c.put("deployments.apps", "later", "web")
		c.terminate("later")
		time.Sleep(10 * time.Second)
		assert.Nil(t, c.namespace("later"))
		assert.Empty(t, c.left("later"), "nobody had a Deployment when the survey was made")
		close(hold)
		synctest.Wait()
		assertAllGone(t, c, names)
		r.stop()
	})
}

// The same name is not the same namespace.
func TestASurveyIsNotBelievedAboutARecreatedNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		names := crowd(c, 10)
		var recreated atomic.Bool
		c.refuse(func(r *http.Request) *api.Status {
			if r.URL.Path == "/api/v1/namespaces/ns-09" && r.Method == http.MethodGet && recreated.CompareAndSwap(false, true) {
				time.Sleep(time.Second) // until the survey has been made
				c.addNamespace("ns-09", true, "kubernetes")
				c.put("deployments.apps", "ns-09", "web")
			}
			return nil
		})
		r := startController(t, c, func(config *nsctl.Config, _ *nsctl.DeleterConfig) { config.Workers = 10 })
		time.Sleep(20 * time.Second)
		assert.True(t, recreated.Load())
		assertAllGone(t, c, names)
		r.stop()
	})
}

// A type that cannot be listed in all namespaces is dealt with in each of them.
func TestTypesThatASurveyCannotSee(t *testing.T) {
	tests := map[string]func(r *http.Request) *api.Status{
		"may not be listed everywhere": func(r *http.Request) *api.Status {
			if r.URL.Path == "/apis/apps/v1/deployments" {
				return status(403, api.ReasonForbidden, "not in all namespaces")
			}
			return nil
		},
		"fails": func(r *http.Request) *api.Status {
			if isSurvey(r.Method + " " + r.URL.Path) {
				return status(500, api.ReasonInternalError, "out of order")
			}
			return nil
		},
	}
	for name, refuse := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				names := crowd(c, 20)
				c.put("deployments.apps", "ns-11", "web")
				c.put("pods.", "ns-12", "p", runningPod(0))
				c.refuse(refuse)
				r := startController(t, c, nil)
				time.Sleep(20 * time.Second)
				assertAllGone(t, c, names)
				r.stop()
			})
		})
	}
}

// Pods go first in a crowd, too.
func TestPodsThatASurveyHasSeenGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		names := crowd(c, 20)
		for _, name := range names {
			c.put("networkpolicies.networking.k8s.io", name, "deny-all")
		}
		c.put("pods.", "ns-07", "slow", runningPod(30))
		r := startController(t, c, nil)
		time.Sleep(20 * time.Second)
		assert.Equal(t, []string{"configmaps./a", "networkpolicies.networking.k8s.io/deny-all", "pods./slow"}, c.left("ns-07"))
		time.Sleep(time.Minute)
		assertAllGone(t, c, names)
		r.stop()
	})
}

// The server is far away: what does not depend on each other is asked for at the same time.
func TestAPassIsFiveRoundTripsLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const distance = 20 * time.Millisecond
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		c.refuse(func(r *http.Request) *api.Status {
			if r.URL.Query().Get("watch") == "" {
				time.Sleep(distance)
			}
			return nil
		})
		var took time.Duration
		r := startController(t, c, func(config *nsctl.Config, _ *nsctl.DeleterConfig) {
			config.Trace = &nsctl.Trace{PassDone: func(_ string, d time.Duration, _ int, err error) {
				took = d
				assert.NoError(t, err)
			}}
		})
		time.Sleep(10 * time.Second)
		assert.Nil(t, c.namespace("ns"))
		r.stop()
		assert.Equal(t, 5*distance, took, "namespace and readiness; both documents of discovery; pods; everything else; finalize")
	})
}

// A namespace that is not the one that was seen gets a discovery of its own.
func TestDiscoveryAheadIsForTheNamespaceThatWasSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.addNamespace("ns", true, "kubernetes")
		var recreated atomic.Bool
		c.refuse(func(r *http.Request) *api.Status {
			if r.URL.Path == "/api/v1/namespaces/ns" && recreated.CompareAndSwap(false, true) {
				time.Sleep(time.Minute)
				c.addNamespace("ns", true, "kubernetes")
				c.define("new.example/v1", "gadgets")
				c.put("gadgets.new.example", "ns", "g")
			}
			return nil
		})
		r := startController(t, c, nil)
		time.Sleep(5 * time.Minute)
		assert.Nil(t, c.namespace("ns"))
		assert.Empty(t, c.left("ns"), "the type did not exist when the first discovery was made")
		r.stop()
	})
}
