package replicaset_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/apps"
	"orrery/examples/replicaset"
	"orrery/examples/worker"
	"orrery/internal/gears"
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

const (
	setsPath = "/apis/apps/v1/namespaces/default/replicasets"
	podsPath = "/api/v1/namespaces/default/pods"
)

// world is a cluster with the controller.
type world struct {
	*clustertest.Cluster
	t      *testing.T
	gears  gears.Set
	adjust func(*replicaset.Controller)
	trace  replicaset.Trace
}

// inBothGears runs a test with textbook and with fast gears, in a bubble.
func inBothGears(t *testing.T, play func(w *world)) {
	t.Helper()
	for _, name := range []string{"textbook", "fast"} {
		t.Run(name, func(t *testing.T) {
			set, err := gears.Parse(name)
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) { play(&world{Cluster: clustertest.New(t), t: t, gears: set}) })
		})
	}
}

// start runs a controller with caches of its own. kill ends it in the middle of whatever it does, and does not wait; ended is
// closed when all of it has ended.
func (w *world) start() (kill context.CancelFunc, ended <-chan struct{}) {
	client := w.Client()
	sets := clustertest.Collection[*apps.ReplicaSet](client, apps.ReplicaSetsResource, w.gears)
	pods := clustertest.Collection[*apps.Pod](client, api.PodsResource, w.gears)
	controller, err := replicaset.NewController(replicaset.Config{
		ReplicaSets: sets, Pods: pods, Worker: worker.Config{NewQueue: w.gears.NewQueue}, Trace: &w.trace,
	})
	require.NoError(w.t, err)
	if w.adjust != nil {
		w.adjust(controller)
	}
	ctx, kill := context.WithCancel(context.Background())
	running := clustertest.Run(ctx, sets.Informer.Run, pods.Informer.Run, func(ctx context.Context) error {
		controller.RunWithin(ctx, ctx)
		return nil
	})
	w.t.Cleanup(func() {
		kill()
		<-running
	})
	return kill, running
}

// set describes a replica set, with more fields of its spec.
func set(name string, replicas int, more string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"replicas":%d,"selector":{"matchLabels":{"app":%q}},`+
		`"template":{"metadata":{"labels":{"app":%q},"annotations":{"kubelet.orrery/stops-after":"1s"}},`+
		`"spec":{"containers":[{"name":"c","image":"i"}]}}%s}}`, name, replicas, name, name, more)
}

func (w *world) set(name string) apps.ReplicaSet {
	return clustertest.Get[apps.ReplicaSet](w.Cluster, setsPath+"/"+name)
}

// pods returns the pods that count as replicas.
func (w *world) pods() (active []apps.Pod) {
	for _, pod := range clustertest.Get[api.List[apps.Pod]](w.Cluster, podsPath).Items {
		if pod.IsActive() {
			active = append(active, pod)
		}
	}
	return active
}

// has waits until the set has reported so many replicas, all of them available, of the generation that it has.
func (w *world) has(name string, replicas int) {
	w.t.Helper()
	w.Within(time.Minute, "the set has its pods", func() bool {
		set := w.set(name)
		return set.Status.ObservedGeneration == set.Generation && set.Status.AvailableReplicas == replicas && set.Status.Replicas == replicas
	})
	require.Len(w.t, w.pods(), replicas)
}

// The watch of pods is ten seconds late. The controller's own status update is news of the set, and calls for a second pass,
// which finds no pod in the store.
func TestWithoutExpectationsALateWatchMakesTwiceAsManyPods(t *testing.T) {
	for name, c := range map[string]struct {
		adjust func(*replicaset.Controller)
		want   int
	}{
		"with expectations":    {nil, 3},
		"without expectations": {(*replicaset.Controller).ForgetExpectations, 6},
	} {
		t.Run(name, func(t *testing.T) {
			inBothGears(t, func(w *world) {
				w.adjust = c.adjust
				w.start()
				synctest.Wait()
				w.Fault("hold-events:for=10s,resource=pods,user=" + clustertest.ControllerUser)
				w.Must("POST", setsPath, set("web", 3, ""))
				time.Sleep(5 * time.Second)
				assert.Len(t, w.pods(), c.want)

				time.Sleep(10 * time.Second) // the watch has caught up, and what is too much is deleted
				w.has("web", 3)
			})
		})
	}
}

func TestPodsAreCreatedReplacedAndDeleted(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.start()
		w.Must("POST", setsPath, set("web", 3, ""))
		w.has("web", 3)
		status := w.set("web").Status
		assert.Equal(w.t, apps.ReplicaSetStatus{
			Replicas: 3, FullyLabeledReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3, ObservedGeneration: 1,
		}, status)
		pod := w.pods()[0]
		assert.True(w.t, strings.HasPrefix(pod.Name, "web-"))
		assert.Equal(w.t, w.set("web").UID, apps.ControllerOf(&pod.ObjectMeta).UID)

		w.Must("DELETE", podsPath+"/"+pod.Name, "")
		time.Sleep(2 * time.Second)
		w.has("web", 3)
		assert.False(w.t, slices.ContainsFunc(w.pods(), func(p apps.Pod) bool { return p.UID == pod.UID }))

		w.Must("PATCH", setsPath+"/web/scale", `{"spec":{"replicas":5}}`)
		w.has("web", 5)
		w.Must("PATCH", setsPath+"/web/scale", `{"spec":{"replicas":1}}`)
		w.has("web", 1)
		w.Must("DELETE", setsPath+"/web", `{"propagationPolicy":"Background"}`)
		w.Within(time.Minute, "all pods go", func() bool { return len(w.pods()) == 0 })
	})
}

func TestAPodIsAvailableWhenItHasBeenReadyForLongEnough(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.start()
		w.Must("POST", setsPath, set("web", 2, `,"minReadySeconds":30`))
		time.Sleep(20 * time.Second)
		status := w.set("web").Status
		assert.Equal(w.t, 2, status.ReadyReplicas)
		assert.Zero(w.t, status.AvailableReplicas)
		time.Sleep(20 * time.Second)
		assert.Equal(w.t, 2, w.set("web").Status.AvailableReplicas)
	})
}

func TestOrphansAreAdoptedAndStrangersReleased(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.Must("POST", podsPath, `{"metadata":{"name":"orphan","labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
		w.start()
		w.Must("POST", setsPath, set("web", 2, ""))
		w.has("web", 2)
		owner := func(pod string) *api.OwnerReference {
			got := clustertest.Get[apps.Pod](w.Cluster, podsPath+"/"+pod)
			return apps.ControllerOf(&got.ObjectMeta)
		}
		require.NotNil(w.t, owner("orphan"))
		assert.Equal(w.t, w.set("web").UID, owner("orphan").UID)
		assert.Len(w.t, w.pods(), 2)

		// A pod whose labels do not match any more is released, lives on, and is replaced.
		w.Must("PATCH", podsPath+"/orphan", `{"metadata":{"labels":{"app":"other"}}}`)
		w.Within(time.Minute, "it is released and replaced", func() bool { return owner("orphan") == nil && len(w.pods()) == 3 })
		w.Within(time.Minute, "it does not count", func() bool { return w.set("web").Status.AvailableReplicas == 2 })

		// Deleting the set and leaving its pods: the collector takes the references away, and a new set finds the pods.
		pods := w.pods()
		w.Must("DELETE", setsPath+"/web", `{"propagationPolicy":"Orphan"}`)
		w.Within(time.Minute, "they are orphans", func() bool {
			return !slices.ContainsFunc(w.pods(), func(pod apps.Pod) bool { return apps.ControllerOf(&pod.ObjectMeta) != nil })
		})
		w.Within(time.Minute, "the set is gone", func() bool {
			_, err := w.Request("GET", setsPath+"/web", "")
			return api.IsNotFound(err)
		})
		w.Must("POST", setsPath, set("web", 2, ""))
		w.Within(time.Minute, "they are adopted", func() bool { return w.set("web").Status.AvailableReplicas == 2 })
		assert.ElementsMatch(w.t, names(pods), names(w.pods()))
	})
}

func names(pods []apps.Pod) (all []string) {
	for _, pod := range pods {
		all = append(all, pod.Name)
	}
	return all
}

// A quota that is full, or a policy: every creation is refused until it is lifted.
func TestARefusalIsReportedAndTriedAgainSlowly(t *testing.T) {
	inBothGears(t, func(w *world) {
		var tries atomic.Int32
		w.trace.Created = func(_ *apps.ReplicaSet, _ string, err error) {
			if err != nil {
				tries.Add(1)
			}
		}
		w.start()
		heal := w.Fault(`forbid:verb=create,resource=pods,user=` + clustertest.ControllerUser)
		w.Must("POST", setsPath, set("web", 20, ""))
		time.Sleep(time.Minute)
		failure := apps.FindCondition(w.set("web").Status.Conditions, apps.ReplicaFailure)
		require.NotNil(w.t, failure)
		assert.Equal(w.t, "FailedCreate", failure.Reason)
		assert.Equal(w.t, api.ConditionTrue, failure.Status)
		assert.Contains(w.t, failure.Message, "forbidden")
		assert.Less(w.t, tries.Load(), int32(20), "one refusal a pass, and passes with growing pauses")
		heal()
		time.Sleep(2 * time.Minute)
		w.has("web", 20)
		assert.Nil(w.t, apps.FindCondition(w.set("web").Status.Conditions, apps.ReplicaFailure))
	})
}

// An event that never comes holds a set up for five minutes and not for ever.
func TestAnExpectationEnds(t *testing.T) {
	inBothGears(t, func(w *world) {
		var waiting atomic.Int32
		w.trace.Waiting = func(*apps.ReplicaSet) { waiting.Add(1) }
		w.start()
		synctest.Wait()
		w.Fault("hold-events:for=20m,resource=pods,user=" + clustertest.ControllerUser)
		w.Must("POST", setsPath, set("web", 3, ""))
		time.Sleep(4 * time.Minute)
		assert.Len(w.t, w.pods(), 3)
		assert.Positive(w.t, waiting.Load())
		time.Sleep(2 * time.Minute)
		assert.Len(w.t, w.pods(), 6)
		time.Sleep(20 * time.Minute)
		w.has("web", 3)
	})
}

// The controller is killed at its first request, at its second, and so on, before or after the server has served it, and a
// new one finishes the work.
func TestKilledAtEveryRequest(t *testing.T) {
	for _, served := range []bool{false, true} {
		t.Run(fmt.Sprintf("served=%v", served), func(t *testing.T) {
			inBothGears(t, func(w *world) {
				for request := 1; ; request++ {
					kill, ended := w.start()
					synctest.Wait()
					w.Killer.KillAt(request, served, kill)
					w.Must("POST", setsPath, set("web", 4, ""))
					time.Sleep(10 * time.Second)
					w.Must("PATCH", setsPath+"/web/scale", `{"spec":{"replicas":2}}`)
					time.Sleep(10 * time.Second)
					requests := w.Killer.Requests()
					kill()
					<-ended
					assert.LessOrEqual(t, len(w.pods()), 4, "killed at request %d", request)

					kill, ended = w.start()
					w.Killer.KillAt(0, false, nil)
					time.Sleep(10 * time.Second)
					w.has("web", 2)
					w.Must("DELETE", setsPath+"/web", `{"propagationPolicy":"Background"}`)
					w.Within(time.Minute, "all pods go", func() bool {
						return len(clustertest.Get[api.List[json.RawMessage]](w.Cluster, podsPath).Items) == 0
					})
					kill()
					<-ended
					if requests < request {
						require.Greater(t, request, 10, "there are at least eight requests about pods, and reports")
						return
					}
				}
			})
		})
	}
}
