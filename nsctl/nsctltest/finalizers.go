package nsctltest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

func (s suite) NamespacesThatAreNotBeingDeletedAreLeftAlone(t *testing.T, c *Cluster) {
	c.AddNamespace("active", false, "kubernetes")
	c.Put("configmaps.", "active", "a")
	deleter := s.newDeleter(t, c)
	require.NoError(t, deleter.Delete(t.Context(), "active"), "a namespace that is not being deleted is no error")
	assert.Equal(t, []string{"GET /api/v1/namespaces/active"}, c.Log(),
		"a namespace that is not being deleted is only read")
	require.NoError(t, deleter.Delete(t.Context(), "missing"),
		"a namespace that is gone is no error: nothing is left to do")
	assert.Equal(t, []string{"GET /api/v1/namespaces/missing"}, c.Log(), "a namespace that is gone is only read")
	assert.Equal(t, []string{"configmaps./a"}, c.Left("active"),
		"content of a namespace that is not being deleted was deleted")
}

// A namespace of that name was deleted before. The present one is another, whose grace period has
// not ended.
func (s suite) ANamespaceThatWasRecreatedIsLeftAlone(t *testing.T, c *Cluster) {
	ns := c.AddNamespace("ns", true, "kubernetes")
	c.Put("configmaps.", "ns", "a")
	seen := nsctl.ObservedDeletion{UID: "uid of an earlier one", Settled: time.Now()}
	require.NoError(t, s.newDeleter(t, c).Deleter.Delete(t.Context(), "ns", seen))
	assert.Equal(t, []string{"configmaps./a"}, c.Left("ns"), "content was deleted before the grace period ended")
	c.Existing(t, "ns")

	seen.UID = ns.UID
	require.NoError(t, s.newDeleter(t, c).Deleter.Delete(t.Context(), "ns", seen))
	c.AssertGone(t, "ns")
}

// The phase is set for servers that do not set it themselves. A conflict may mean that another
// client has set it: then there is nothing more to write.
func (s suite) PhaseIsSetForServersThatDoNot(t *testing.T, c *Cluster) {
	active := func(ns *api.Namespace) { ns.Status.Phase = api.NamespaceActive }
	c.AddNamespace("ns", true, "kubernetes", "example.com/other")
	c.Update("ns", active)
	require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
	assert.Equal(t, api.NamespaceTerminating, c.Existing(t, "ns").Status.Phase)

	c.AddNamespace("ns", true, "kubernetes", "example.com/other")
	c.Update("ns", active)
	c.Log()
	c.Before("", "/status", sync.OnceFunc(func() {
		c.Update("ns", func(ns *api.Namespace) { ns.Status.Phase = api.NamespaceTerminating })
	}))
	require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
	assert.Equal(t, 2, Count(c.Log(), "PUT /api/v1/namespaces/ns/status"),
		"the write that met the conflict, and the conditions")
}

// A namespace without this controller's token waits for somebody else, and may be re-created at any
// moment. Upstream deletes its content as long as any token is left.
func (s suite) ANamespaceWithoutTheTokenIsLeftAlone(t *testing.T) {
	for name, finalizers := range map[string][]string{
		"another token": {"example.com/other"}, "none": nil, "two others": {"kubernetes.io", "example.com/kubernetes"},
	} {
		for _, dry := range []bool{false, true} {
			BubbleRun(t, fmt.Sprint(name, " dry run ", dry), func(t *testing.T, c *Cluster) {
				c.AddNamespace("ns", true, finalizers...)
				c.Update("ns", func(ns *api.Namespace) {
					ns.Status.Phase = api.NamespaceActive // a server that leaves the phase to the controller
					ns.Finalizers = []string{"example.com/hold"}
				})
				c.Put("pods.", "ns", "p")
				c.Put("secrets.", "ns", "s")
				var told [][]string
				trace := &nsctl.Trace{
					NoToken: func(_ string, finalizers []string) { told = append(told, finalizers) },
					WouldDelete: func(string, api.GroupVersionResource, nsctl.Found, error) {
						t.Error("a dry run promised to delete something")
					},
				}
				deleter := s.newDeleter(t, c, func(config *nsctl.DeleterConfig) {
					config.Trace, config.DryRun = trace, dry
				})
				require.NoError(t, deleter.Delete(t.Context(), "ns"))
				assert.Equal(t, []string{"GET /api/v1/namespaces/ns"}, c.Log(),
					"without the token a pass only reads the namespace")
				assert.Equal(t, []string{"pods./p", "secrets./s"}, c.Left("ns"), "content was deleted without the token")
				assert.Equal(t, [][]string{finalizers}, told, "the pass says why it does nothing")
			})
		}
	}
}

// Another party removes the token while the phase is written.
func (s suite) ANamespaceThatLosesTheTokenIsLeftAlone(t *testing.T, c *Cluster) {
	c.AddNamespace("ns", true, "kubernetes", "example.com/other")
	c.Update("ns", func(ns *api.Namespace) { ns.Status.Phase = api.NamespaceActive })
	c.Put("secrets.", "ns", "s")
	c.Before("", "/status", func() {
		c.Update("ns", func(ns *api.Namespace) { ns.Spec.Finalizers = []string{"example.com/other"} })
	})
	require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
	assert.Equal(t, []string{"secrets./s"}, c.Left("ns"), "content was deleted without the token")
	assert.Len(t, writes(c.Log()), 1, "the write that met the conflict is not repeated")
}

func (s suite) PodsBlockEverythingElse(t *testing.T, c doomed) {
	c.Put("pods.", "ns", "slow", RunningPod(60))
	c.Put("pods.", "ns", "slower", RunningPod(300), WithFinalizers("example.com/hold"))
	c.Put("networkpolicies.networking.k8s.io", "ns", "deny-all")
	deleter := s.newDeleter(t, c)

	err := deleter.Delete(t.Context(), "ns")
	remaining := requireRemaining(t, err)
	assert.Equal(t, int64(300), remaining.Estimate)
	assert.Equal(t, []string{"networkpolicies.networking.k8s.io/deny-all", "pods./slow", "pods./slower"}, c.Left("ns"),
		"pods run: want the rest to stay")
	assert.LessOrEqual(t, len(c.Log()), 9, "an attempt with pods still there is cheap")

	// Unlike upstream, which reports that all content was removed (#138208).
	ns := c.Namespace("ns")
	assert.Equal(t, "Some resources are remaining: pods. has 2 resource instances",
		ConditionOf(ns, api.NamespaceContentRemaining).Message)
	assert.Equal(t, "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
		ConditionOf(ns, api.NamespaceFinalizersRemaining).Message)

	time.Sleep(5 * time.Minute) // in the bubble: the grace period of the pods is over, a finalizer still holds one
	remaining = requireRemaining(t, deleter.Delete(t.Context(), "ns"))
	assert.Equal(t, int64(15), remaining.Estimate, "the grace period is over; the finalizer blocks")

	c.Release("pods.", "ns", "slower")
	require.NoError(t, deleter.Delete(t.Context(), "ns"))
	c.AssertGone(t, "ns")
}

// Upstream continues with the other types, NetworkPolicies included, while pods may run (fails
// open).
func (s suite) AnErrorInThePodsStepStopsThePass(t *testing.T) {
	for _, failing := range []string{http.MethodDelete, http.MethodGet} {
		BubbleRun(t, failing, func(t *testing.T, c *Cluster) {
			c.AddNamespace("ns", true, "kubernetes")
			c.Put("pods.", "ns", "busy", RunningPod(30))
			c.Put("networkpolicies.networking.k8s.io", "ns", "deny-all")
			c.RefuseAll(failing, "/pods", Status(500, api.ReasonInternalError, "etcd is on fire"))
			err := s.newDeleter(t, c).Delete(t.Context(), "ns")
			require.Error(t, err)
			assert.Contains(t, c.Left("ns"), "networkpolicies.networking.k8s.io/deny-all",
				"pods may still run: want the rest to stay")
			failure := ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionContentFailure)
			assert.Equal(t, "Failed to delete all resource types, 1 remaining: etcd is on fire", failure.Message)
		})
	}
}

// Pods remain after the longest grace period since the deletion of the namespace, and no finalizer
// holds them.
func (s suite) PodsThatOutliveTheirGracePeriodAreUnexpected(t *testing.T, c doomed) {
	c.Put("pods.", "ns", "late", RunningPod(30))
	time.Sleep(31 * time.Second) // the first pass comes late
	err := s.newDeleter(t, c).Delete(t.Context(), "ns")
	var unexpected *nsctl.UnexpectedItemsError
	require.ErrorAs(t, err, &unexpected, "a pod is left, and nothing explains it: want an *UnexpectedItemsError")
	assert.Equal(t, 1, unexpected.Items)
	c.Existing(t, "ns")
}

// If discovery fails for the group of the pods, some may still be running.
func (s suite) UnknownPodsBlockEverythingElse(t *testing.T, c doomed) {
	c.Stale = []string{"v1"}
	c.Put("pods.", "ns", "busy", RunningPod(30))
	c.Put("networkpolicies.networking.k8s.io", "ns", "deny-all")
	err := s.newDeleter(t, c).Delete(t.Context(), "ns")
	var groups *discovery.ErrGroupDiscoveryFailed
	require.ErrorAs(t, err, &groups, "types may be missing: want the pass to fail with the failure of discovery")
	assert.Equal(t, []string{"networkpolicies.networking.k8s.io/deny-all", "pods./busy"}, c.Left("ns"),
		"pods may still run: want the rest to stay")
	assert.Equal(t, api.ConditionTrue, ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionDiscoveryFailure).Status)
}

// A server without pods, such as one with custom resources only, has none to wait for.
func (s suite) ServersWithoutPods(t *testing.T, c doomed) {
	c.Types["v1"] = []string{"configmaps"}
	c.Put("configmaps.", "ns", "a")
	require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
	c.AssertGone(t, "ns")
}

// The estimate is the longest grace period of the running pods until that time has passed since the
// deletion. It sets the time of the next pass. A pod that outlives it without a finalizer is an
// error.
func (s suite) TheEstimateIsTheLongestGracePeriod(t *testing.T) {
	pod := func(phase string, grace ...int64) func(*item) {
		return func(i *item) {
			i.Status.Phase = phase
			i.Metadata.Finalizers = []string{"example.com/hold"} // the pod stays for good
			if len(grace) > 0 {
				i.Spec.Grace = &grace[0]
			}
		}
	}
	type pods []func(*item)
	tests := []struct {
		name  string
		pods  pods
		after time.Duration
		want  int64
	}{
		{"the longest counts", pods{pod("Running", 30), pod("Pending", 60), pod("Running", 10)}, time.Second, 60},
		{"pods that have ended do not count", pods{pod("Succeeded", 60), pod("Failed", 90), pod("Running", 5)},
			time.Second, 5},
		{"a pod without a period", pods{pod("Running")}, time.Second, 15},
		{"the period is nearly over", pods{pod("Running", 30)}, 29 * time.Second, 30},
		{"the period is over", pods{pod("Running", 30)}, 30 * time.Second, 15},
		{"a period shorter than what a finalizer gets", pods{pod("Running", 3)}, time.Second, 3},
	}
	for _, test := range tests {
		BubbleRun(t, test.name, func(t *testing.T, c *Cluster) {
			c.AddNamespace("ns", true, "kubernetes")
			for i, adjust := range test.pods {
				c.Put("pods.", "ns", fmt.Sprint("p", i), adjust)
			}
			time.Sleep(test.after)
			err := s.newDeleter(t, c).Delete(t.Context(), "ns")
			remaining := requireRemaining(t, err)
			assert.Equal(t, test.want, remaining.Estimate)
		})
	}
}

// A dry run counts what a run would delete and what terminates already, and writes nothing.
func (s suite) DryRunLooksAndWritesNothing(t *testing.T, c doomed) {
	terminating := func(i *item) {
		now := api.NewTime(time.Now())
		i.Metadata.DeletionTimestamp = &now
	}
	c.Put("pods.", "ns", "a", RunningPod(30))
	c.Put("configmaps.", "ns", "held", WithFinalizers("example.com/hold"), terminating)
	c.Put("configmaps.", "ns", "free", WithFinalizers("example.com/hold"))
	would := map[string]nsctl.Found{}
	trace := &nsctl.Trace{WouldDelete: func(_ string, r api.GroupVersionResource, found nsctl.Found, err error) {
		assert.NoError(t, err)
		if found != (nsctl.Found{}) {
			would[r.GroupResource()] = found
		}
	}}
	deleter := s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.DryRun, config.Trace = true, trace })
	require.NoError(t, deleter.Delete(t.Context(), "ns"))
	assert.Equal(t, map[string]nsctl.Found{"pods.": {ToDelete: 1}, "configmaps.": {ToDelete: 1, Terminating: 1}}, would)
	for _, request := range c.Log() {
		assert.True(t, strings.HasPrefix(request, "GET "), request)
	}
	assert.Len(t, c.Left("ns"), 3)
	assert.Empty(t, c.Existing(t, "ns").Status.Conditions)
}
