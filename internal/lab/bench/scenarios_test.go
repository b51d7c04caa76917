package bench_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/dispatchbench"
	"orrery/internal/lab/bench/fifobench"
	"orrery/internal/lab/bench/queuebench"
	"orrery/internal/lab/bench/storebench"
	"orrery/internal/lab/bench/syncbench"
)

const (
	operation = "ns/op allocs/op B/op"
	events    = "ns/event cpu ns/event allocs/event B/event"
	stalled   = "live MiB before MiB B/update s"
)

// figures are those of each scenario.
var figures = map[string]string{
	"queue/cycle": operation, "queue/cycle-metrics": operation,
	"queue/pipeline":        operation + " processed/s cpu-ns/op",
	"queue/pipeline-singly": operation + " processed/s cpu-ns/op",
	"queue/add-after":       operation, "queue/add-rate-limited": operation,
	"fifo/add-pop": operation, "fifo/relist": "lock-ms ms",
	"store/update": operation, "store/by-index": operation, "store/writes-with-readers": "lists/s writes/s",
	"dispatch/1": events, "dispatch/4": events, "dispatch/16": events,
	"dispatch/idle":            "p50 p99 mean asleep p50 asleep p99",
	"dispatch/stalled-default": stalled, "dispatch/stalled-coalescing": stalled,
	"dispatch/stalled-default-metadata": stalled,

	"sync/json": "cpu s wall s peak MiB live MiB allocs/op",
}

// subjectScenario is a scenario of a subject.
type subjectScenario struct {
	bench.Scenario
	subject string
}

func scenariosOf[S interface{ Name() string }](
	of func(S) []bench.Scenario, subjects ...S,
) (all []subjectScenario) {
	for _, subject := range subjects {
		for _, scenario := range of(subject) {
			all = append(all, subjectScenario{scenario, subject.Name()})
		}
	}
	return all
}

func workloads() []subjectScenario {
	return slices.Concat(
		scenariosOf(queuebench.Scenarios, queuebench.Subjects()...),
		scenariosOf(fifobench.Scenarios, fifobench.Subjects()...),
		scenariosOf(storebench.Scenarios, storebench.Subjects()...),
		scenariosOf(dispatchbench.Scenarios, dispatchbench.Orrery(dispatchbench.Fast)),
		scenariosOf(syncbench.Scenarios, syncbench.Orrery()),
	)
}

// Figures are above zero, but for a queue, which may allocate nothing. Subjects that have the same
// scenario do the same work.
func TestEveryScenarioProvesItsWork(t *testing.T) {
	proofs := map[string]string{}
	for _, scenario := range workloads() {
		t.Run(scenario.Name+"/"+scenario.subject, func(t *testing.T) {
			outcome, err := scenario.Run(t.Context(), bench.Quick)
			require.NoError(t, err)
			got := strings.Join(slices.Collect(maps.Keys(outcome.Figures)), " ")
			assert.ElementsMatch(t, strings.Fields(figures[scenario.Name]), strings.Fields(got))
			for name, value := range outcome.Figures {
				mayBeZero := strings.HasPrefix(scenario.Name, "queue/") || name == "B/update"
				assert.True(t, value > 0 || mayBeZero, "%s is %v", name, value)
			}
			assert.NotEmpty(t, outcome.Proof)
			if first, known := proofs[scenario.Name]; known {
				assert.Equal(t, first, outcome.Proof, "the same work")
			}
			proofs[scenario.Name] = outcome.Proof
		})
	}
	assert.Len(t, proofs, len(figures))
}

func TestScenariosEndWithTheContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, scenario := range workloads() {
		_, err := scenario.Run(ended, bench.Quick)
		assert.ErrorIs(t, err, context.Canceled, "%s of %s", scenario.Name, scenario.subject)
	}
}
