package nsctl

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/restclient/api"
)

func TestPodsEstimate(t *testing.T) {
	pod := func(phase api.PodPhase, grace ...int64) *api.Pod {
		p := &api.Pod{Status: api.PodStatus{Phase: phase}}
		if len(grace) > 0 {
			p.Spec.TerminationGracePeriodSeconds = &grace[0]
		}
		return p
	}
	deleted := api.NewTime(before)
	tests := []struct {
		name  string
		pods  []*api.Pod
		after time.Duration
		want  int64
	}{
		{"no pods", nil, 0, 0},
		{"the longest counts", []*api.Pod{pod("Running", 30), pod("Pending", 60), pod("Running", 10)}, time.Second, 60},
		{"pods that have ended do not count", []*api.Pod{pod("Succeeded", 60), pod("Failed", 90), pod("Running", 5)}, time.Second, 5},
		{"a pod without a period", []*api.Pod{pod("Running")}, time.Second, 0},
		{"the period is nearly over", []*api.Pod{pod("Running", 30)}, 29 * time.Second, 30},
		{"the period is over", []*api.Pod{pod("Running", 30)}, 30 * time.Second, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, podsEstimate(test.pods, &deleted, before.Add(test.after)))
		})
	}
	assert.Equal(t, int64(30), podsEstimate([]*api.Pod{pod("Running", 30)}, nil, now), "not deleted: nothing has passed")
}

func TestRequeueAfterIsHalfTheEstimateAndASecond(t *testing.T) {
	for estimate, want := range map[int64]time.Duration{1: time.Second, 15: 8 * time.Second, 30: 16 * time.Second, 31: 16 * time.Second} {
		assert.Equal(t, want, (&ResourcesRemainingError{Estimate: estimate}).RequeueAfter(), "estimate %d", estimate)
	}
	assert.EqualError(t, &ResourcesRemainingError{Estimate: 15}, "some content remains in the namespace, estimate 15 seconds before it is removed")
}

func TestWhatRemainsHasAnExplanationOrIsAnError(t *testing.T) {
	item := func(finalizers ...string) *api.PartialObjectMetadata {
		return &api.PartialObjectMetadata{ObjectMeta: api.ObjectMeta{Finalizers: finalizers}}
	}
	configMaps := api.GroupVersionResource{Version: "v1", Resource: "configmaps"}

	nothing := countRemains([]*api.PartialObjectMetadata{}, 0)
	assert.Zero(t, nothing.items)
	assert.Zero(t, nothing.estimate)
	assert.NoError(t, nothing.check("ns", configMaps))

	held := countRemains([]*api.PartialObjectMetadata{item("a"), item("a", "b"), item()}, 0)
	assert.Equal(t, remains{items: 3, finalizers: map[string]int{"a": 2, "b": 1}, estimate: 15}, held)
	assert.NoError(t, held.check("ns", configMaps))

	known := countRemains([]*api.PartialObjectMetadata{item("a")}, 40)
	assert.Equal(t, int64(40), known.estimate, "a known time is better than the finalizers' guess")

	stuck := countRemains([]*api.PartialObjectMetadata{item()}, 0)
	assert.EqualError(t, stuck.check("ns", configMaps), "unexpected items still remain in namespace: ns for gvr: /v1, Resource=configmaps")
}
