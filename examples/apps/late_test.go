package apps_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/examples/apps"
)

// The watch of pods is ten seconds late. The controller's own status update triggers a second
// pass, whose cache has no pods, or pods that have been deleted.
func TestWithoutExpectationsALateWatchMakesTwiceAsManyPods(t *testing.T) {
	for name, c := range map[string]struct {
		adjust          func(*apps.ReplicaSetController)
		want, deletions int
	}{
		"with expectations":    {nil, 3, 2},
		"without expectations": {(*apps.ReplicaSetController).ForgetExpectations, 6, 4},
	} {
		t.Run(name, func(t *testing.T) {
			inBothGears(t, func(w *world) {
				var deletions atomic.Int32
				w.trace.Deleted = func(*apps.ReplicaSet, string, error) { deletions.Add(1) }
				w.adjust = c.adjust
				w.start()
				synctest.Wait()
				w.ControllerFault("hold-events:for=10s,resource=pods")
				w.Must("POST", setsPath, set("web", 3, ""))
				time.Sleep(5 * time.Second)
				assert.Len(t, w.pods(), c.want)

				time.Sleep(10 * time.Second) // the watch has caught up, and surplus pods are deleted
				w.has("web", 3)
				deletions.Store(0)
				w.ControllerFault("hold-events:for=10s,resource=pods")
				w.Must("PATCH", setsPath+"/web/scale", `{"spec":{"replicas":1}}`)
				time.Sleep(5 * time.Second)
				assert.EqualValues(t, c.deletions, deletions.Load(), "requests to delete two pods")
				w.has("web", 1)
			})
		})
	}
}

// The events of three new pods arrive while a pass asks whether its expectation is satisfied. The
// pass must count them, so it must not have read the store before.
func TestExpectationsAreAskedBeforeTheStore(t *testing.T) {
	inBothGears(t, func(w *world) {
		var created atomic.Int32
		w.trace.Created = func(*apps.ReplicaSet, string, error) { created.Add(1) }
		w.adjust = (*apps.ReplicaSetController).AskSlowly
		w.start()
		synctest.Wait()
		w.Must("POST", setsPath, set("web", 3, ""))
		time.Sleep(15 * time.Second)
		w.ControllerFault("hold-events:for=15s,resource=pods")
		time.Sleep(5 * time.Minute)
		w.has("web", 3)
		assert.EqualValues(t, 3, created.Load())
	})
}

// A set that is scaled while an expectation is open reports the older generation: the deployment
// controller takes its next step when the newer one has been acted on.
func TestAGenerationIsObservedWhenItHasBeenActedOn(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.start()
		synctest.Wait()
		w.ControllerFault("hold-events:for=10s,resource=pods")
		w.Must("POST", setsPath, set("web", 3, ""))
		time.Sleep(time.Second)
		w.Must("PATCH", setsPath+"/web/scale", `{"spec":{"replicas":5}}`)
		time.Sleep(5 * time.Second)
		assert.EqualValues(t, 1, w.set("web").Status.ObservedGeneration)
		assert.Len(t, w.pods(), 3)
		w.has("web", 5)
		assert.EqualValues(t, 2, w.set("web").Status.ObservedGeneration)
	})
}

// The watch of replica sets is ten seconds late. The collector deletes the pods of a deleted set.
// Each deletion is an event for the controller, whose cache still has the set.
func TestADeletedSetGetsNoNewPods(t *testing.T) {
	for _, policy := range []string{"Background", "Foreground"} {
		t.Run(policy, func(t *testing.T) {
			inBothGears(t, func(w *world) {
				var created atomic.Int32
				w.trace.Created = func(*apps.ReplicaSet, string, error) { created.Add(1) }
				kill, _ := w.start()
				w.Must("POST", setsPath, set("web", 3, ""))
				w.has("web", 3)
				// otherwise it creates pods and the collector deletes them, without end
				w.Killer.KillAt(100, false, kill)
				w.ControllerFault("hold-events:for=10s,resource=replicasets")
				w.Must("DELETE", setsPath+"/web", `{"propagationPolicy":"`+policy+`"}`)
				time.Sleep(time.Minute)
				assert.Empty(t, w.pods())
				assert.EqualValues(t, 3, created.Load(), "no pod is created for a set that has gone")
			})
		})
	}
}

// While the watch is down, a pod that the controller has deleted goes, and another one of the same
// name appears. The informer reports that as an update.
func TestAPodThatIsCreatedAgainInAGapOfTheWatch(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.orphan("orphan")
		w.begin(1)
		w.ControllerFault("forbid:for=20s,verb=list|watch,resource=pods")
		w.Fault("cut-watches")
		w.Must("PATCH", setsPath+"/web/scale", `{"spec":{"replicas":0}}`)
		w.Within(10*time.Second, "the controller deletes the pod", func() bool { return len(w.pods()) == 0 })
		w.Must("DELETE", podsPath+"/orphan", `{"gracePeriodSeconds":0}`)
		w.orphan("orphan")
		w.Within(time.Minute, "the new one is adopted and deleted", func() bool { return len(w.pods()) == 0 })
	})
}

// The first event of a pod that began to end while the watch was down counts as its creation.
func TestAPodThatIsEndingWhenItIsFirstSeen(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.start()
		synctest.Wait()
		w.ControllerFault("forbid:for=20s,verb=list|watch,resource=pods")
		w.Fault("cut-watches")
		w.Must("POST", setsPath, set("web", 1, ""))
		w.Within(time.Minute, "a pod is created", func() bool { return len(w.pods()) == 1 })
		path := podsPath + "/" + w.pods()[0].Name
		w.Must("PATCH", path, `{"metadata":{"finalizers":["example.com/keep"]}}`)
		w.Must("DELETE", path, "")
		w.Fault("compact")
		w.Within(time.Minute, "the pod is replaced", func() bool { return len(w.pods()) == 1 })
	})
}

// An event that never arrives blocks a set for five minutes and not forever.
func TestAnExpectationEnds(t *testing.T) {
	inBothGears(t, func(w *world) {
		w.start()
		synctest.Wait()
		w.ControllerFault("hold-events:for=20m,resource=pods")
		w.Must("POST", setsPath, set("web", 3, ""))
		time.Sleep(4 * time.Minute)
		assert.Len(w.t, w.pods(), 3)
		time.Sleep(2 * time.Minute)
		assert.Len(w.t, w.pods(), 6)
		time.Sleep(20 * time.Minute)
		w.has("web", 3)
	})
}
