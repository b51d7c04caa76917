package queuebench

import (
	"context"
	"math"

	"orrery/internal/lab/bench"
)

const (
	ScenarioCycle          = "queue/cycle"
	ScenarioCycleMetrics   = "queue/cycle-metrics"
	ScenarioPipeline       = "queue/pipeline"
	ScenarioPipelineSingly = "queue/pipeline-singly"
	ScenarioAddAfter       = "queue/add-after"
	ScenarioAddRateLimited = "queue/add-rate-limited"
)

// Scenarios returns the pieces of work for comparisons.
func Scenarios(subject Subject) []bench.Scenario {
	var scenarios []bench.Scenario
	for _, s := range []struct {
		name string
		run  func(context.Context, Subject, bench.Effort) (bench.Outcome, error)
	}{
		{ScenarioCycle, Cycle},
		{ScenarioCycleMetrics, CycleMetrics},
		{ScenarioPipeline, Pipeline},
		{ScenarioPipelineSingly, PipelineSingly},
		{ScenarioAddAfter, AddAfter},
		{ScenarioAddRateLimited, AddRateLimited},
	} {
		scenarios = append(scenarios, bench.Scenario{
			Name: s.name,
			Run: func(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
				return s.run(ctx, subject, effort)
			},
		})
	}
	return scenarios
}

// perOp returns the figures per operation, rounded so that one-time allocations of the queue do not
// show.
func perOp(usage bench.Usage, n int) map[string]float64 {
	figures := usage.PerOp(n)
	figures["allocs/op"] = math.Round(figures["allocs/op"]*1000) / 1000
	figures["B/op"] = math.Round(figures["B/op"]*100) / 100
	return figures
}
