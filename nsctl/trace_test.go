package nsctl

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/restclient/api"
)

var terminating = &api.Namespace{}

// callAll calls every hook once.
func callAll(t *Trace) {
	t.enqueued(terminating, time.Second)
	t.passContext(context.Background(), "ns")
	t.passStarted("ns")
	t.surveyed(context.Background(), 30, 30, time.Second)
	t.discovered("ns", 30, nil)
	t.typeDeleted("ns", api.PodsResource, 1, nil)
	t.wouldDelete("ns", api.PodsResource, 1, nil)
	t.conflict("ns", nil)
	t.conditionsUpdated("ns", nil)
	t.conditionsFailed("ns", nil)
	t.finalized("ns", nil)
	t.phase("ns", PhasePods)()
	t.phaseDone("ns", PhaseGrace, time.Second)
	t.passDone("ns", time.Second, 0, nil)
	t.gone("ns", time.Second)
}

func TestHooksThatAreNotSetCostNoAllocation(t *testing.T) {
	for name, trace := range map[string]*Trace{"no trace": nil, "no hooks": {}} {
		assert.Zero(t, testing.AllocsPerRun(100, func() { callAll(trace) }), name)
	}
}

func TestEveryHookIsCalled(t *testing.T) {
	calls := 0
	callAll(&Trace{
		Enqueued:          func(*api.Namespace, time.Duration) { calls++ },
		PassContext:       func(ctx context.Context, _ string) context.Context { calls++; return ctx },
		PassStarted:       func(string) { calls++ },
		Surveyed:          func(context.Context, int, int, time.Duration) { calls++ },
		Discovered:        func(string, int, error) { calls++ },
		TypeDeleted:       func(string, api.GroupVersionResource, int, error) { calls++ },
		WouldDelete:       func(string, api.GroupVersionResource, int, error) { calls++ },
		Conflict:          func(string, error) { calls++ },
		ConditionsUpdated: func(string, []api.NamespaceCondition) { calls++ },
		ConditionsFailed:  func(string, error) { calls++ },
		Finalized:         func(string, error) { calls++ },
		PhaseDone:         func(string, Phase, time.Duration) { calls++ },
		PassDone:          func(string, time.Duration, int, error) { calls++ },
		Gone:              func(string, time.Duration) { calls++ },
	})
	assert.Equal(t, 15, calls)
}

func BenchmarkNilTrace(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		callAll(nil)
	}
}
