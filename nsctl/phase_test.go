package nsctl_test

import (
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

// The phases of a deletion add up to its duration, whatever the delay: the grace period, slow
// answers, a slow pod, or a pass that fails.
func TestPhasesAddUpToTheDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := nsctltest.NewCluster()
		c.AddNamespace("ns", false, "kubernetes")
		c.Put("pods.", "ns", "slow", nsctltest.RunningPod(30))
		c.Put("configmaps.", "ns", "a")
		slowly := map[string]time.Duration{
			"/finalize": 7 * time.Second, "/status": 5 * time.Second, "/configmaps": 3 * time.Second, "/pods": time.Second,
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
		var gone, end time.Duration
		seen := time.Now()
		trace := &nsctl.Trace{
			Enqueued: func(*api.Namespace, time.Duration) {
				if mu.Lock(); len(took) == 0 && end == 0 {
					seen = time.Now()
				}
				mu.Unlock()
			},
			PhaseDone: func(namespace string, phase nsctl.Phase, d time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				assert.Equal(t, "ns", namespace)
				took[phase] += d
			},
			PassDone: func(string, time.Duration, int, error) {
				mu.Lock()
				defer mu.Unlock()
				end = time.Since(seen)
			},
			Gone: func(namespace string, d time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				assert.Equal(t, "ns", namespace)
				gone = d
			},
		}
		r := nsctltest.StartController(t, c, nsctl.NewDeleter, func(config *nsctl.Config, deleter *nsctl.DeleterConfig) {
			config.Trace, deleter.Trace = trace, trace
		})
		time.Sleep(time.Second)
		assert.Zero(t, r.Deleting())
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

func TestPhasesAreDistinguished(t *testing.T) {
	phases := nsctl.Phases()
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(phases))), len(phases))
	assert.NotContains(t, phases, nsctl.Phase(""))
}
