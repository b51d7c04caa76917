package apps

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/controller"
	"orrery/restclient/api"
)

// Each pod differs in one property from the one before and is more expensive to delete.
func TestTheCheapestPodsGoFirst(t *testing.T) {
	created := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	pod := func(change func(*Pod)) *Pod {
		p := &Pod{}
		p.CreationTimestamp = api.NewTime(created)
		p.Spec.NodeName = "node"
		p.Status.Phase = api.PodRunning
		ready := Condition{Type: "Ready", Status: api.ConditionTrue, LastTransitionTime: api.NewTime(created)}
		p.Status.Conditions = []Condition{ready}
		change(p)
		return p
	}
	pods := []*Pod{
		pod(func(p *Pod) { p.Spec.NodeName = "" }),
		pod(func(p *Pod) { p.Status.Phase = api.PodPending }),
		pod(func(p *Pod) { p.Status.Phase = api.PodUnknown }),
		pod(func(p *Pod) { p.Status.Conditions = nil }),
		pod(func(p *Pod) { p.Annotations = map[string]string{deletionCost: "-5"} }),
		pod(func(p *Pod) { p.Status.Conditions[0].LastTransitionTime = api.NewTime(created.Add(time.Hour)) }),
		pod(func(p *Pod) { p.CreationTimestamp = api.NewTime(created.Add(time.Hour)) }),
		pod(func(p *Pod) { p.Annotations = map[string]string{deletionCost: "nonsense"} }),
	}
	shuffled := make([]*Pod, len(pods))
	for i, place := range rand.Perm(len(pods)) {
		pods[i].Name = fmt.Sprint(i)
		shuffled[place] = pods[i]
	}
	for count := range pods {
		var want, got []string
		for _, p := range pods[:count] {
			want = append(want, p.Name)
		}
		for _, p := range podsToDelete(shuffled, count) {
			got = append(got, p.Name)
		}
		assert.Equal(t, want, got)
	}
	assert.Len(t, podsToDelete(shuffled, 99), len(pods))
}

func TestBatchesDouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		began, batches := time.Now(), map[time.Duration]int{}
		succeeded, err := slowStart(10, func() error {
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			batches[time.Since(began)]++
			return nil
		})
		assert.Equal(t, 10, succeeded)
		assert.NoError(t, err)
		assert.Equal(t, map[time.Duration]int{time.Second: 1, 2 * time.Second: 2, 3 * time.Second: 4,
			4 * time.Second: 3}, batches)

		tries := 0
		succeeded, err = slowStart(100, func() error { tries++; return errors.New("full") })
		assert.Zero(t, succeeded)
		assert.EqualError(t, err, "full")
		assert.Equal(t, 1, tries)
	})
}

func TestExpectations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExpectations()
		set := &ReplicaSet{ObjectMeta: api.ObjectMeta{Namespace: "n", Name: "a", UID: "a"}}
		assert.True(t, e.satisfied("a"))
		e.creationsObserved("a", 1) // of another controller's pods
		e.deletionObserved("x")
		assert.True(t, e.satisfied("a"))

		e.expectCreations("a", 2)
		assert.True(t, e.satisfied("b"))
		e.creationsObserved("a", 1)
		assert.False(t, e.satisfied("a"))
		e.creationsObserved("a", 1)
		assert.True(t, e.satisfied("a"))

		e.expectDeletions(set, []string{"x", "y"})
		e.deletionObserved("x")
		e.deletionObserved("x") // the deletion begins, then the pod is gone
		assert.False(t, e.satisfied("a"))
		time.Sleep(expectationTimeout - time.Second)
		assert.False(t, e.satisfied("a"))
		time.Sleep(time.Second)
		assert.True(t, e.satisfied("a"), "the event will not arrive any more")

		e.expectCreations("a", 1)
		c := &ReplicaSetController{expectations: e, Pool: controller.NewPool(controller.PoolConfig{})}
		c.setHandler().OnUpdate(set, &ReplicaSet{ObjectMeta: api.ObjectMeta{Name: "a", UID: "b"}})
		assert.True(t, e.satisfied("a"), "the expectations of a set that was created again are forgotten")
	})
}

// The next pass is due when the first of the ready pods becomes available, in whatever order the
// store lists them.
func TestWhenTheNextPodBecomesAvailable(t *testing.T) {
	now := time.Now()
	ready := func(ago time.Duration) *Pod {
		condition := Condition{Type: "Ready", Status: api.ConditionTrue, LastTransitionTime: api.NewTime(now.Add(-ago))}
		return &Pod{Status: PodStatus{Conditions: []Condition{condition}}}
	}
	set := &ReplicaSet{Spec: ReplicaSetSpec{Replicas: 3, MinReadySeconds: 30}}
	for _, pods := range [][]*Pod{
		{ready(10 * time.Second), ready(20 * time.Second), ready(time.Minute)},
		{ready(time.Minute), ready(20 * time.Second), ready(10 * time.Second)},
	} {
		status, after := calculateStatus(set, pods, nil, now)
		assert.Equal(t, 3, status.ReadyReplicas)
		assert.Equal(t, 1, status.AvailableReplicas)
		assert.Equal(t, 10*time.Second, after)
	}
}

// ForgetExpectations makes the controller trust the informer's store.
func (c *ReplicaSetController) ForgetExpectations() { c.satisfied = func(string) bool { return true } }

// AskSlowly makes the controller look at an expectation 20 seconds late.
func (c *ReplicaSetController) AskSlowly() {
	satisfied := c.satisfied
	c.satisfied = func(set string) bool {
		time.Sleep(20 * time.Second)
		return satisfied(set)
	}
}
