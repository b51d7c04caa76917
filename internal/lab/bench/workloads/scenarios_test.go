package workloads

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/bench"
)

func init() { relistKnown, scenarioObjects = 10_000, 10_000 }

// configured returns the default configuration with changes.
func configured[C any, P interface {
	*C
	AddTo(*pflag.FlagSet)
}](change func(c *C)) *C {
	c := new(C)
	P(c).AddTo(pflag.NewFlagSet("", pflag.ContinueOnError))
	change(c)
	return c
}

const (
	operation = "ns/op allocs/op B/op"
	events    = "ns/event allocs/event"
)

// figures are those of each scenario.
var figures = map[string]string{
	"queue/cycle": operation, "queue/cycle-metrics": operation,
	"queue/pipeline":  operation + " processed/s",
	"queue/add-after": operation, "queue/add-rate-limited": operation,
	"fifo/add-pop": operation, "fifo/relist": "lock-ms ms",
	"store/update": operation, "store/by-index": operation, "store/writes-with-readers": "writes/s",
	"dispatch/1": events, "dispatch/16": events, "dispatch/idle": "p50",
	"dispatch/stalled-default": "live MiB", "dispatch/stalled-coalescing": "live MiB",

	"sync/json": "cpu s peak MiB live MiB",
}

// allScenarios returns the scenarios by the subject's name.
func allScenarios() map[string][]bench.Scenario {
	all := map[string][]bench.Scenario{}
	for _, subject := range QueueSubjects() {
		all[subject.Name()] = append(all[subject.Name()], QueueScenarios(subject)...)
	}
	for _, subject := range FIFOs() {
		all[subject.Name()] = append(all[subject.Name()], subject.Scenarios()...)
	}
	for _, subject := range Stores() {
		all[subject.Name()] = append(all[subject.Name()], subject.Scenarios()...)
	}
	all["fast"] = slices.Concat(all["fast"], DispatchScenarios(DesignFast), SyncScenarios(FastSync()))
	return all
}

// Figures are above zero, but for a queue, which may allocate nothing. Subjects that have the same
// scenario do the same work.
func TestEveryScenarioProvesItsWork(t *testing.T) {
	proofs := map[string]string{}
	for subject, scenarios := range allScenarios() {
		for _, scenario := range scenarios {
			t.Run(scenario.Name+"/"+subject, func(t *testing.T) {
				outcome, err := scenario.Run(t.Context(), bench.Quick)
				require.NoError(t, err)
				got := strings.Join(slices.Collect(maps.Keys(outcome.Figures)), " ")
				assert.ElementsMatch(t, strings.Fields(figures[scenario.Name]), strings.Fields(got))
				for name, value := range outcome.Figures {
					mayBeZero := strings.HasPrefix(scenario.Name, "queue/")
					assert.True(t, value > 0 || mayBeZero, "%s is %v", name, value)
				}
				assert.NotEmpty(t, outcome.Proof)
				if first, known := proofs[scenario.Name]; known {
					assert.Equal(t, first, outcome.Proof, "the same work")
				}
				proofs[scenario.Name] = outcome.Proof
			})
		}
	}
	assert.Len(t, proofs, len(figures))
	assert.Contains(t, proofs["dispatch/stalled-default"], "received all of them, in order")
	assert.Contains(t, proofs["dispatch/stalled-coalescing"], "received their final state")
}

func TestScenariosEndWithTheContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for subject, scenarios := range allScenarios() {
		for _, scenario := range scenarios {
			_, err := scenario.Run(ended, bench.Quick)
			assert.ErrorIs(t, err, context.Canceled, "%s of %s", scenario.Name, subject)
		}
	}
}

// Short runs of every subject: 100 events at a steady rate, unless said otherwise. Queues and a
// design that merges may handle several events at once; the others have a latency for each.
func TestRuns(t *testing.T) {
	check := func(name, figure string, events, latencies int, run func(context.Context) (*bench.Result, error)) {
		t.Run(name, func(t *testing.T) {
			result, err := run(t.Context())
			require.NoError(t, err)
			for _, f := range result.Figures {
				mayBeZero := strings.HasPrefix(name, "queue") && strings.HasPrefix(f.Name, "alloc")
				assert.True(t, f.Value > 0 || mayBeZero, "%s is %v", f.Name, f.Value)
			}
			_, measured := result.Figure(figure)
			assert.True(t, measured, figure)
			require.Len(t, result.Proof, 2)
			assert.Positive(t, result.Latency.Count())
			if latencies > 0 {
				assert.EqualValues(t, latencies, result.Latency.Count())
			}
			if events > 0 {
				assert.Contains(t, result.Proof[1], fmt.Sprintf(": %d ", events), "a phase counts its own events only")
			}
		})
	}
	store := func(name, figure string, events int, subject Subject[StoreConfig], change func(c *StoreConfig)) {
		check("store "+name, figure, events, events, func(ctx context.Context) (*bench.Result, error) {
			return subject.Run(ctx, configured(change), nil)
		})
	}
	dispatch := func(name string, events, latencies int, design DispatchSubject, change func(c *DispatchConfig)) {
		check("dispatch "+name, "callbacks", events, latencies, func(ctx context.Context) (*bench.Result, error) {
			return RunDispatch(ctx, design, configured(change), nil)
		})
	}
	var load bench.Load
	for _, d := range bench.Distributions() {
		load = bench.Load{Distribution: d, Duration: 20 * time.Millisecond, Rate: 5000, Seed: 1}
		for _, subject := range QueueSubjects() {
			cfg := configured(func(c *QueueConfig) { c.Load, c.Keys, c.Producers, c.Workers = load, 500, 3, 5 })
			name := "queue " + subject.Name() + " " + string(d)
			check(name, "added", 0, 0, func(ctx context.Context) (*bench.Result, error) {
				return RunQueue(ctx, subject, cfg, nil)
			})
		}
		for _, subject := range FIFOs() {
			cfg := configured(func(c *FIFOConfig) { c.Load, c.Keys = load, 100 })
			name := "fifo " + subject.Name() + " " + string(d)
			check(name, "turns", 100, 100, func(ctx context.Context) (*bench.Result, error) {
				return subject.Run(ctx, cfg, nil)
			})
		}
	}
	for _, subject := range Stores() {
		store(subject.Name(), "reads", 100, subject,
			func(c *StoreConfig) { c.Load, c.Objects, c.Readers = load, 300, 2 })
	}
	store("without readers", "allocations per write", 100, FastStore(),
		func(c *StoreConfig) { c.Load, c.Objects, c.Readers = load, 10, 0 })
	// On a busy machine the time may be up before the writer begins, and before a reader is scheduled.
	store("for a nanosecond", "reads", 1, FastStore(),
		func(c *StoreConfig) { c.Objects, c.Readers, c.Duration, c.Rate = 10, 2, 1, 1 })
	for _, design := range DispatchSubjects() {
		latencies := 100
		if design.Merges() {
			latencies = 0
		}
		dispatch(design.Name(), 100, latencies, design,
			func(c *DispatchConfig) { c.Load, c.Objects, c.HandlerCost = load, 50, 1 })
	}
	dispatch("to each of three handlers", 100, 300, DesignFast,
		func(c *DispatchConfig) { c.Load, c.Objects, c.Handlers = load, 50, 3 })
	dispatch("of one event, the next one in eleven days", 1, 1, DesignFast,
		func(c *DispatchConfig) { c.Objects, c.Duration, c.Rate = 50, 10*time.Millisecond, 1e-6 })
}
