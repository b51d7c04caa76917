package apps_test

import (
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
	"orrery/internal/lab/clustertest"
	"orrery/restclient/api"
)

// set returns a replica set, with more fields of its spec.
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

// orphan creates a pod that the set web may adopt.
func (w *world) orphan(name string) {
	w.t.Helper()
	w.Must("POST", podsPath, `{"metadata":{"name":"`+name+`","labels":{"app":"web"}},`+
		`"spec":{"containers":[{"name":"c","image":"i"}]}}`)
}

// has waits until the set reports n replicas, all available, for its current generation.
func (w *world) has(name string, replicas int) {
	w.t.Helper()
	w.Within(time.Minute, "the set has its pods", func() bool {
		set := w.set(name)
		return set.Status.ObservedGeneration == set.Generation && set.Status.AvailableReplicas == replicas &&
			set.Status.Replicas == replicas
	})
	require.Len(w.t, w.pods(), replicas)
}

// begin starts a controller, and returns when the set web has its pods.
func (w *world) begin(replicas int) {
	w.t.Helper()
	w.start()
	w.Must("POST", setsPath, set("web", replicas, ""))
	w.has("web", replicas)
}

func TestPodsAreCreatedReplacedAndDeleted(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.begin(3)
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

func TestOrphansAreAdoptedAndStrangersReleased(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.orphan("orphan")
		w.begin(2)
		owner := func(pod string) *api.OwnerReference {
			got := clustertest.Get[apps.Pod](w.Cluster, podsPath+"/"+pod)
			return apps.ControllerOf(&got.ObjectMeta)
		}
		require.NotNil(w.t, owner("orphan"))
		assert.Equal(w.t, w.set("web").UID, owner("orphan").UID)
		assert.Len(w.t, w.pods(), 2)

		// A pod whose labels no longer match is released, stays, and is replaced.
		w.Must("PATCH", podsPath+"/orphan", `{"metadata":{"labels":{"app":"other"}}}`)
		w.Within(time.Minute, "it is released and replaced",
			func() bool { return owner("orphan") == nil && len(w.pods()) == 3 })
		w.Within(time.Minute, "it does not count", func() bool { return w.set("web").Status.AvailableReplicas == 2 })
	})
}

// The pods are adopted and deleted while the watch is down. The list after it lacks them, and the
// store has never seen their owner.
func TestTheDeletionOfAPodThatWasNeverSeenWithItsOwnerIsObserved(t *testing.T) {
	inBothGears(t, func(w *world) {
		for _, name := range []string{"a", "b", "c"} {
			w.orphan(name)
		}
		w.start()
		synctest.Wait()
		heal := w.ControllerFault("hold-events:for=10m,resource=pods")
		w.Must("POST", setsPath, set("web", 1, ""))
		w.Within(time.Minute, "two are deleted", func() bool { return len(w.pods()) == 1 })
		time.Sleep(time.Minute) // they are gone
		heal()
		w.Fault("compact")
		w.Fault("cut-watches")
		w.Must("PATCH", setsPath+"/web/scale", `{"spec":{"replicas":3}}`)
		w.has("web", 3)
	})
}

// The pod's labels change with its owner reference, so it leads to no set any more.
func TestAPodThatIsTakenAwayIsReplaced(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.begin(2)
		w.Must("PATCH", podsPath+"/"+w.pods()[0].Name, `{"metadata":{"labels":{"app":"other"},"ownerReferences":null}}`)
		w.Within(time.Minute, "it is replaced", func() bool { return len(w.pods()) == 3 })
		w.Within(time.Minute, "it does not count", func() bool { return w.set("web").Status.AvailableReplicas == 2 })
	})
}

// A full quota, or a policy: every creation is refused until it is lifted.
func TestARefusalIsReportedAndTriedAgainSlowly(t *testing.T) {
	inBothGears(t, func(w *world) {
		var tries atomic.Int32
		w.trace.Created = func(_ *apps.ReplicaSet, _ string, err error) {
			if err != nil {
				tries.Add(1)
			}
		}
		w.start()
		heal := w.ControllerFault(`forbid:verb=create,resource=pods`)
		w.Must("POST", setsPath, set("web", 20, ""))
		time.Sleep(time.Minute)
		failure := apps.FindCondition(w.set("web").Status.Conditions, apps.ReplicaFailure)
		require.NotNil(w.t, failure)
		assert.Equal(w.t, "FailedCreate", failure.Reason)
		assert.Equal(w.t, api.ConditionTrue, failure.Status)
		assert.Contains(w.t, failure.Message, "forbidden")
		assert.Less(w.t, tries.Load(), int32(20), "one refusal per pass, with back-off")
		heal()
		time.Sleep(2 * time.Minute)
		w.has("web", 20)
		assert.Nil(w.t, apps.FindCondition(w.set("web").Status.Conditions, apps.ReplicaFailure))
	})
}

// No event follows a deletion that the server has refused.
func TestARefusedDeletionIsNotWaitedFor(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.begin(2)
		heal := w.ControllerFault("forbid:verb=delete,resource=pods")
		w.Must("PATCH", setsPath+"/web/scale", `{"spec":{"replicas":1}}`)
		time.Sleep(10 * time.Second)
		assert.Len(w.t, w.pods(), 2)
		failure := apps.FindCondition(w.set("web").Status.Conditions, apps.ReplicaFailure)
		require.NotNil(w.t, failure)
		assert.Equal(w.t, "FailedDelete", failure.Reason)
		heal()
		w.has("web", 1)
	})
}
