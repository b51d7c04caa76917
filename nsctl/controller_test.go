package nsctl_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/internal/hooks"
	"orrery/nsctl"
	"orrery/nsctl/nsctltest"
	"orrery/restclient"
	"orrery/restclient/api"
)

func TestControllerDeletesANamespaceAfterTheGracePeriod(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		c.AddNamespace("ns", false, "kubernetes")
		c.Put("configmaps.", "ns", "a")
		r := nsctltest.StartController(t, c, nsctl.NewDeleter, nil)
		time.Sleep(time.Second)
		c.Terminate("ns")

		time.Sleep(4900 * time.Millisecond)
		assert.NotNil(t, c.Namespace("ns"), "other API servers may not have seen the deletion yet")
		require.Len(t, r.Snapshot().Queue.Delayed, 1)
		assert.Equal(t, "ns", r.Snapshot().Queue.Delayed[0].Key)
		time.Sleep(200 * time.Millisecond)
		assert.Nil(t, c.Namespace("ns"))
		assert.Empty(t, c.Left("ns"))
	})
}

func TestControllerGracePeriodIsAFlag(t *testing.T) {
	for configured, want := range map[time.Duration]time.Duration{0: 5 * time.Second, -1: 0, time.Minute: time.Minute} {
		nsctltest.BubbleRun(t, fmt.Sprint(configured), func(t *testing.T, c *nsctltest.Cluster) {
			grace := func(config *nsctl.Config) { config.GracePeriod = configured }
			r, log := startLogged(t, c, nsctl.NewDeleter, grace)
			time.Sleep(time.Second)
			c.AddNamespace("ns", true, "kubernetes")
			time.Sleep(2 * time.Minute)
			r.Stop()
			assert.Equal(t, time.Second+want, log.began["ns"][0], "counted from when the deletion was seen")
			assert.Nil(t, c.Namespace("ns"))
		})
	}
}

// A report that differs from pass to pass must not trigger the next pass, past the back-off. A
// loop without pauses would stop the bubble's clock, so the server ends it: it answers a limited
// number of deletions.
func TestReportsThatDifferFromPassToPassMakeNoBusyLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 30 // the back-off allows 15 in a minute
		c := nsctltest.NewCluster()
		c.AddNamespace("ns", true, "kubernetes")
		started, busy := time.Now(), make(chan struct{})
		refusals := 0
		c.Refuse(func(r *http.Request) *api.Status {
			if r.Method != http.MethodDelete || !strings.HasSuffix(r.URL.Path, "/secrets") {
				return nil
			}
			if refusals++; refusals > most {
				if refusals == most+1 {
					close(busy)
				}
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
			}
			return nsctltest.Status(500, api.ReasonInternalError, fmt.Sprintf("failure number %d", refusals))
		})
		r := nsctltest.StartController(t, c, nsctl.NewDeleter, func(config *nsctl.Config, _ *nsctl.DeleterConfig) {
			config.GracePeriod, config.Pool.DrainTimeout = -1, time.Millisecond
		})
		select {
		case <-busy:
			t.Errorf("a busy loop: %d passes within %v, each called for by the report of the one before", most,
				time.Since(started))
		case <-time.After(time.Minute):
		}
		r.Stop()
		assert.Greater(t, refusals, 10, "retried")
	})
}

// The controller plans the next pass. Neither the echo of its own report nor a report of another
// controller brings it forward; any other change does.
func TestTheNextLookComesWhenItWasSaid(t *testing.T) {
	for name, disturb := range map[string]func(c *nsctltest.Cluster){
		"the echo of the report": func(*nsctltest.Cluster) {},
		"a report of another controller": func(c *nsctltest.Cluster) {
			c.Update("ns", func(ns *api.Namespace) {
				ns.Status.Conditions = append(ns.Status.Conditions,
					api.NamespaceCondition{Type: "Other", Status: api.ConditionTrue})
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}, looks(t, disturb)[:3])
		})
	}
	t.Run("an annotation", func(t *testing.T) {
		times := looks(t, func(c *nsctltest.Cluster) {
			c.Update("ns", func(ns *api.Namespace) { ns.Annotations = map[string]string{"look": "now"} })
		})
		assert.Equal(t, []time.Duration{5 * time.Second, 10 * time.Second, 16 * time.Second}, times[:3])
	})
}

// looks returns when passes began over a namespace with a pod that takes 60 s to end and says 30.
// disturb is called eleven seconds after the deletion.
func looks(t *testing.T, disturb func(c *nsctltest.Cluster)) (times []time.Duration) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("pods.", "ns", "slow", nsctltest.RunningPod(30), nsctltest.WithFinalizers("example.com/hold"))
		r, log := startLogged(t, c, nsctl.NewDeleter, nil)
		time.Sleep(11 * time.Second)
		disturb(c)
		time.Sleep(time.Minute)
		r.Stop()
		times = log.began["ns"]
	})
	return times
}

// An informer may keep the managed fields, which have the time of the status write.
func TestOnlyStatusChanged(t *testing.T) {
	now := api.NewTime(time.Now())
	for name, c := range map[string]struct {
		change func(*api.Namespace)
		only   bool
	}{
		"phase": {func(n *api.Namespace) { n.Status.Phase = api.NamespaceTerminating }, true},
		"conditions": {func(n *api.Namespace) { n.Status.Conditions = []api.NamespaceCondition{{Type: "A"}} },
			true},
		"managed fields":    {func(n *api.Namespace) { n.ManagedFields = api.NewManagedFields([]byte(`[{"manager":"m"}]`)) }, true},
		"deletion":          {func(n *api.Namespace) { n.DeletionTimestamp = &now }, false},
		"label":             {func(n *api.Namespace) { n.Labels = map[string]string{"a": "b"} }, false},
		"finalizer":         {func(n *api.Namespace) { n.Finalizers = nil }, false},
		"finalizer in spec": {func(n *api.Namespace) { n.Spec.Finalizers = nil }, false},
	} {
		old := &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "ns", ResourceVersion: "1", Finalizers: []string{"a/b"}}}
		old.Spec.Finalizers = []string{"kubernetes"}
		changed := *old
		changed.ResourceVersion = "2"
		c.change(&changed)
		assert.Equal(t, c.only, nsctl.OnlyStatusChanged(old, &changed), name)
	}
}

func TestControllerWaitsHalfTheEstimateForPods(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		c.AddNamespace("ns", true, "kubernetes")
		c.Put("pods.", "ns", "slow", nsctltest.RunningPod(30))
		r, log := startLogged(t, c, nsctl.NewDeleter, nil)
		time.Sleep(2 * time.Minute)
		r.Stop()
		assert.Nil(t, c.Namespace("ns"))
		ends := log.ends["ns"]
		var remaining *nsctl.ResourcesRemainingError
		require.ErrorAs(t, ends[0], &remaining)
		assert.Equal(t, int64(30), remaining.Estimate)
		assert.NoError(t, ends[len(ends)-1])
		assert.Less(t, len(ends), 8, "it does not poll")
	})
}

// With upstream's shared bucket of ten retries per second, the thousandth failing namespace is
// retried after 90 seconds.
func TestManyFailingNamespacesDoNotWaitForEachOther(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		const many = 300
		for i := range many {
			c.AddNamespace(fmt.Sprintf("ns-%d", i), true, "kubernetes")
		}
		c.Refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/ns-") {
				return nsctltest.Status(503, api.ReasonServiceUnavailable, "not now")
			}
			return nil
		})
		r, log := startLogged(t, c, nsctl.NewDeleter, nil)
		time.Sleep(7 * time.Second)
		r.Stop()
		require.Len(t, log.began, many)
		for name, began := range log.began {
			require.Greater(t, len(began), 1, "%s has been tried once", name)
			require.Less(t, began[1]-began[0], time.Second, name)
		}
	})
}

// A hook may use the controller: none is called with its lock held. (Such a hook would block for
// ever, so the test tries the lock.)
func TestHooksAreNotCalledUnderTheLock(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		c.AddNamespace("ns", false, "kubernetes")
		var r *nsctltest.Running
		var mu sync.Mutex
		called := map[string]bool{}
		look := func(hook string) {
			assert.True(t, r.LockIsFree(), "the hook %s is called under the controller's lock", hook)
			mu.Lock()
			defer mu.Unlock()
			called[hook] = true
		}
		trace := hooks.Observe[nsctl.Trace](func(hook string, _ []any) { look(hook) })
		c.Before(http.MethodDelete, "/pods", func() { time.Sleep(70 * time.Second) }) // past StuckAfter
		r = nsctltest.StartController(t, c, nsctl.NewDeleter,
			func(config *nsctl.Config, _ *nsctl.DeleterConfig) { config.Trace = trace })
		time.Sleep(time.Second)
		c.Terminate("ns")
		time.Sleep(5 * time.Minute)
		r.Stop()
		for _, hook := range []string{"Enqueued", "PassContext", "PassStarted", "PhaseDone", "PassStuck", "PassDone",
			"Gone"} {
			assert.True(t, called[hook], hook)
		}
	})
}

func TestControllerNeedsALiveInformer(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		source := restclient.Typed[*api.Namespace](nsctltest.NewClient(t, c), api.NamespacesResource, "")
		stopped := informer.NewSharedIndexInformer(source, informer.Config[*api.Namespace]{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		stopped.Run(ctx)
		_, err := nsctl.NewController(nsctl.Config{Informer: stopped})
		assert.ErrorIs(t, err, informer.ErrStopped)
	})
}

// The defaults are those of kube-controller-manager.
func TestControllerDefaults(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		for i := range 12 {
			c.AddNamespace(fmt.Sprint("ns-", i), true, "kubernetes")
		}
		var blocked atomic.Bool
		blocked.Store(true)
		var looks atomic.Int64
		c.Refuse(func(r *http.Request) *api.Status {
			if blocked.Load() && r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/ns-") {
				time.Sleep(time.Minute) // longer than the drain timeout
			}
			return nil
		})
		r := nsctltest.StartController(t, c, nsctl.NewDeleter, func(config *nsctl.Config, _ *nsctl.DeleterConfig) {
			config.Trace = &nsctl.Trace{Enqueued: func(ns *api.Namespace, _ time.Duration) {
				if ns.Name == "held" {
					looks.Add(1)
				}
			}}
		})
		time.Sleep(6 * time.Second)
		assert.Len(t, r.Snapshot().Active, 10, "workers")
		blocked.Store(false)
		time.Sleep(2 * time.Minute)
		c.AddNamespace("held", true, "kubernetes", "example.com/other")
		time.Sleep(time.Minute)
		seen := looks.Load()
		require.Positive(t, seen)
		time.Sleep(11 * time.Minute)
		assert.Equal(t, seen+2, looks.Load(), "it is examined every 5 minutes without an event")
	})
}
