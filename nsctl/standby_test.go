package nsctl_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/nsctl/nsctltest"
	"orrery/restclient/api"
)

// standby is a controller that does not work yet, with its informer running.
type standby struct {
	*nsctl.Controller
	begun names // the passes
}

// names is a list for concurrent use.
type names struct {
	mu   sync.Mutex
	list []string
}

func (n *names) add(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, name)
}

func (n *names) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.list)
}

func newStandby(t *testing.T, c *nsctltest.Cluster, adjust func(*nsctl.Config)) *standby {
	t.Helper()
	s := &standby{}
	s.Controller, _ = nsctltest.NewStandby(t, c, nsctl.NewDeleter, func(config *nsctl.Config, _ *nsctl.DeleterConfig) {
		config.Pool.Workers, config.Trace = 1, &nsctl.Trace{PassStarted: s.begun.add}
		adjust(config)
	})
	return s
}

// A standby knows which namespaces are terminating and since when. It forgets those that another
// controller deletes, and loses no time when it begins to work.
func TestAControllerThatStoodByBeginsAtOnce(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		for _, name := range []string{"seen-long-ago", "seen-a-moment-ago", "done-by-another"} {
			c.AddNamespace(name, false, "kubernetes")
		}
		var gone, enqueued names
		s := newStandby(t, c, func(config *nsctl.Config) {
			config.Trace.Enqueued = func(namespace *api.Namespace, after time.Duration) {
				enqueued.add(fmt.Sprint(namespace.Name, " ", after))
			}
			config.Trace.Gone = func(namespace string, _ time.Duration) { gone.add(namespace) }
		})
		other := nsctltest.StartController(t, c, nsctl.NewDeleter, nil)
		time.Sleep(time.Second)
		c.Terminate("done-by-another")
		time.Sleep(10 * time.Second)
		other.Stop()
		require.Nil(t, c.Namespace("done-by-another"))
		c.Terminate("seen-long-ago")
		time.Sleep(time.Minute)
		c.Terminate("seen-a-moment-ago")
		time.Sleep(2 * time.Second)
		assert.Empty(t, s.begun.all())
		assert.Empty(t, s.Snapshot().Queue.Queued, "a standby queues nothing")
		assert.Empty(t, s.Snapshot().Queue.Delayed)
		assert.Empty(t, enqueued.all(), "nor does it announce passes, which another controller makes")
		assert.Equal(t, 2, s.Deleting(), "what another controller has deleted is forgotten")
		assert.Empty(t, gone.all(), "the other controller reports it")

		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.Run(ctx)
		}()
		synctest.Wait()
		assert.Equal(t, []string{"seen-long-ago"}, s.begun.all(), "at once")
		assert.ElementsMatch(t, []string{"seen-long-ago 0s", "seen-a-moment-ago 3s"}, enqueued.all(),
			"now that it works")
		time.Sleep(3*time.Second - time.Millisecond)
		assert.NotNil(t, c.Namespace("seen-a-moment-ago"))
		time.Sleep(2 * time.Millisecond)
		assert.Nil(t, c.Namespace("seen-a-moment-ago"), "only the rest of the grace period has passed")
		c.AddNamespace("new", true, "kubernetes")
		time.Sleep(6 * time.Second)
		assert.Nil(t, c.Namespace("new"))
		synctest.Wait()
		assert.Equal(t, []string{"seen-long-ago", "seen-a-moment-ago", "new"}, gone.all())
		stop()
		<-ended
	})
}

// A deletion starts at the server's deletion timestamp, however late the controller sees it.
func TestADeletionIsTimedFromItsTimestamp(t *testing.T) {
	for name, began := range map[string]time.Duration{"long before the start": -14 * time.Minute,
		"our clock is behind": time.Hour} {
		nsctltest.BubbleRun(t, name, func(t *testing.T, c *nsctltest.Cluster) {
			c.AddNamespace("ns", true, "kubernetes")
			c.Update("ns", func(ns *api.Namespace) {
				deleted := api.NewTime(time.Now().Add(began))
				ns.DeletionTimestamp = &deleted
			})
			var lasted time.Duration
			r := nsctltest.StartController(t, c, nsctl.NewDeleter, func(config *nsctl.Config, _ *nsctl.DeleterConfig) {
				config.Trace = &nsctl.Trace{Gone: func(_ string, took time.Duration) { lasted = took }}
			})
			time.Sleep(3 * time.Second)
			assert.Equal(t, max(-began, 0)+3*time.Second, r.OldestDeletion())
			time.Sleep(7 * time.Second)
			r.Stop()
			assert.Equal(t, max(-began, 0)+5*time.Second, lasted)
			assert.Zero(t, r.OldestDeletion())
		})
	}
}

// A timestamp has whole seconds. A deletion that is seen at once is timed from that moment.
func TestTimestampsHaveWholeSeconds(t *testing.T) {
	seen := time.Date(2026, 1, 2, 3, 4, 5, 900e6, time.UTC)
	deleted := func(ago time.Duration) *api.Namespace {
		at := api.NewTime(seen.Add(-ago).Truncate(time.Second))
		return &api.Namespace{ObjectMeta: api.ObjectMeta{DeletionTimestamp: &at}}
	}
	assert.Equal(t, seen, nsctl.DeletionBegan(deleted(0), seen))
	assert.Equal(t, seen, nsctl.DeletionBegan(deleted(time.Second), seen))
	onTheSecond := seen.Truncate(time.Second)
	assert.Equal(t, onTheSecond.Add(-2*time.Second), nsctl.DeletionBegan(deleted(2*time.Second), onTheSecond))
	assert.Equal(t, seen.Add(-60900*time.Millisecond), nsctl.DeletionBegan(deleted(time.Minute), seen))
}

// The phases of a deletion add up to its duration, whatever the delay: the grace period, slow
// answers, a slow pod, or a pass that fails.
func TestPhasesAddUpToTheDeletion(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		c.AddNamespace("ns", false, "kubernetes")
		c.Put("pods.", "ns", "slow", nsctltest.RunningPod(30))
		c.Put("configmaps.", "ns", "a")
		slowly := map[string]time.Duration{
			"/finalize": 7 * time.Second, "/status": 5 * time.Second, "/configmaps": 3 * time.Second,
			"/pods": time.Second,
		}
		c.Refuse(func(r *http.Request) *api.Status {
			for suffix, pause := range slowly {
				if strings.HasSuffix(r.URL.Path, suffix) && strings.Contains(r.URL.Path, "/ns") {
					time.Sleep(pause)
				}
			}
			return nil
		})
		var mu sync.Mutex
		took := map[nsctl.Phase]time.Duration{}
		var seen time.Time
		var gone, end time.Duration
		record := func(f func()) {
			mu.Lock()
			defer mu.Unlock()
			f()
		}
		trace := &nsctl.Trace{
			PhaseDone: func(_ string, phase nsctl.Phase, d time.Duration) { record(func() { took[phase] += d }) },
			PassDone:  func(string, time.Duration, int, error) { record(func() { end = time.Since(seen) }) },
			Gone:      func(_ string, d time.Duration) { record(func() { gone = d }) },
		}
		r := nsctltest.StartController(t, c, nsctl.NewDeleter,
			func(config *nsctl.Config, deleter *nsctl.DeleterConfig) {
				config.Trace, deleter.Trace = trace, trace
			})
		time.Sleep(time.Second)
		assert.Zero(t, r.Deleting())
		seen = time.Now()
		c.Terminate("ns")
		synctest.Wait()
		assert.Equal(t, 1, r.Deleting())
		assert.Equal(t, 1, r.Snapshot().Deleting)
		time.Sleep(3 * time.Minute)
		r.Stop()
		require.Nil(t, c.Namespace("ns"))
		assert.Zero(t, r.Deleting())

		mu.Lock()
		defer mu.Unlock()
		var sum time.Duration
		for phase, d := range took {
			assert.Contains(t, nsctl.Phases(), phase)
			sum += d
		}
		assert.Equal(t, end, sum, "%v", took)
		assert.Positive(t, gone)
		assert.LessOrEqual(t, gone, end, "the last answer comes after the event")
		assert.Equal(t, 5*time.Second, took[nsctl.PhaseGrace])
		assert.Greater(t, took[nsctl.PhaseWaiting], 15*time.Second, "for the pod")
		assert.Equal(t, 7*time.Second, took[nsctl.PhaseFinalization])
		assert.Equal(t, 6*time.Second, took[nsctl.PhaseContent], "one request deletes, one lists the rest")
		assert.Positive(t, took[nsctl.PhaseReport])
		assert.Positive(t, took[nsctl.PhasePods])
	})
}
