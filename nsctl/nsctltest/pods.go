package nsctltest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

func (s suite) PodsBlockEverythingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("pods.", "ns", "slow", RunningPod(60))
		c.Put("pods.", "ns", "slower", RunningPod(300), WithFinalizers("example.com/hold"))
		c.Put("networkpolicies.networking.k8s.io", "ns", "deny-all")
		deleter := s.newDeleter(t, c)

		err := deleter.Delete(t.Context(), "ns")
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, err, &remaining, wantRemaining)
		assert.Equal(t, int64(300), remaining.Estimate)
		assert.Equal(t, []string{"networkpolicies.networking.k8s.io/deny-all", "pods./slow", "pods./slower"}, c.Left("ns"), "pods run: want the rest to stay")
		assert.LessOrEqual(t, len(c.Log()), 9, "an attempt with pods still there is cheap")

		// Unlike upstream, which reports that all content was removed (#138208).
		ns := c.Namespace("ns")
		assert.Equal(t, "Some resources are remaining: pods. has 2 resource instances", ConditionOf(ns, api.NamespaceContentRemaining).Message)
		assert.Equal(t, "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
			ConditionOf(ns, api.NamespaceFinalizersRemaining).Message)

		time.Sleep(5 * time.Minute) // in the bubble: the grace period of the pods is over, a finalizer still holds one
		require.ErrorAs(t, deleter.Delete(t.Context(), "ns"), &remaining, wantRemaining)
		assert.Equal(t, int64(15), remaining.Estimate, "the grace period is over; the finalizer blocks")

		c.Release("pods.", "ns", "slower")
		require.NoError(t, deleter.Delete(t.Context(), "ns"))
		c.AssertGone(t, "ns")
		assert.Empty(t, c.Left("ns"))
	})
}

// Upstream continues with the other types, NetworkPolicies included, while pods may run (fails
// open).
func (s suite) AnErrorInThePodsStepStopsThePass(t *testing.T) {
	for _, failing := range []string{http.MethodDelete, http.MethodGet} {
		t.Run(failing, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := NewCluster()
				c.AddNamespace("ns", true, "kubernetes")
				c.Put("pods.", "ns", "busy", RunningPod(30))
				c.Put("networkpolicies.networking.k8s.io", "ns", "deny-all")
				c.Refuse(func(r *http.Request) *api.Status {
					if r.Method == failing && strings.HasSuffix(r.URL.Path, "/pods") {
						return Status(500, api.ReasonInternalError, "etcd is on fire")
					}
					return nil
				})
				err := s.newDeleter(t, c).Delete(t.Context(), "ns")
				require.Error(t, err)
				assert.Contains(t, c.Left("ns"), "networkpolicies.networking.k8s.io/deny-all", "pods may still run: want the rest to stay")
				failure := ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionContentFailure)
				assert.Equal(t, "Failed to delete all resource types, 1 remaining: etcd is on fire", failure.Message)
			})
		})
	}
}

// Pods remain after the longest grace period since the deletion of the namespace, and no finalizer
// holds them.
func (s suite) PodsThatOutliveTheirGracePeriodAreUnexpected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("pods.", "ns", "late", RunningPod(30))
		time.Sleep(31 * time.Second) // the first pass comes late
		err := s.newDeleter(t, c).Delete(t.Context(), "ns")
		var unexpected *nsctl.UnexpectedItemsError
		require.ErrorAs(t, err, &unexpected, "a pod is left, and nothing explains it: want an *UnexpectedItemsError")
		assert.Equal(t, 1, unexpected.Items)
		c.Existing(t, "ns")
	})
}

// If discovery fails for the group of the pods, some may still be running.
func (s suite) UnknownPodsBlockEverythingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Stale = []string{"v1"}
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("pods.", "ns", "busy", RunningPod(30))
		c.Put("networkpolicies.networking.k8s.io", "ns", "deny-all")
		err := s.newDeleter(t, c).Delete(t.Context(), "ns")
		var groups *discovery.ErrGroupDiscoveryFailed
		require.ErrorAs(t, err, &groups, "types may be missing: want the pass to fail with the failure of discovery")
		assert.Equal(t, []string{"networkpolicies.networking.k8s.io/deny-all", "pods./busy"}, c.Left("ns"), "pods may still run: want the rest to stay")
		assert.Equal(t, api.ConditionTrue, ConditionOf(c.Existing(t, "ns"), api.NamespaceDeletionDiscoveryFailure).Status)
	})
}

// A server without pods, such as one with custom resources only, has none to wait for.
func (s suite) ServersWithoutPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCluster()
		c.Types["v1"] = []string{"configmaps"}
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("configmaps.", "ns", "a")
		require.NoError(t, s.newDeleter(t, c).Delete(t.Context(), "ns"))
		c.AssertGone(t, "ns")
	})
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
		{"pods that have ended do not count", pods{pod("Succeeded", 60), pod("Failed", 90), pod("Running", 5)}, time.Second, 5},
		{"a pod without a period", pods{pod("Running")}, time.Second, 15},
		{"the period is nearly over", pods{pod("Running", 30)}, 29 * time.Second, 30},
		{"the period is over", pods{pod("Running", 30)}, 30 * time.Second, 15},
		{"a period shorter than what a finalizer gets", pods{pod("Running", 3)}, time.Second, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := NewCluster()
				c.AddNamespace("ns", true, "kubernetes")
				for i, adjust := range test.pods {
					c.Put("pods.", "ns", fmt.Sprint("p", i), adjust)
				}
				time.Sleep(test.after)
				err := s.newDeleter(t, c).Delete(t.Context(), "ns")
				var remaining *nsctl.ResourcesRemainingError
				require.ErrorAs(t, err, &remaining, wantRemaining)
				assert.Equal(t, test.want, remaining.Estimate)
			})
		})
	}
}
