package queuebench

import (
	"context"
	"math"

	"orrery/internal/lab/bench"
)

// Scenarios returns the pieces of work for comparisons.
func Scenarios(subject Subject) []bench.Scenario {
	type work func(context.Context, Subject, bench.Effort) (bench.Outcome, error)
	scenario := func(name string, run work) bench.Scenario {
		return bench.Scenario{Name: name, Run: func(ctx context.Context, effort bench.Effort) (bench.Outcome, error) {
			return run(ctx, subject, effort)
		}}
	}
	return []bench.Scenario{
		scenario("queue/cycle", Cycle),
		scenario("queue/cycle-metrics", CycleMetrics),
		scenario("queue/pipeline", Pipeline),
		scenario("queue/pipeline-singly", PipelineSingly),
		scenario("queue/add-after", AddAfter),
		scenario("queue/add-rate-limited", AddRateLimited),
	}
}

// perOp returns the figures per operation, rounded so that one-time allocations of the queue do not
// show.
func perOp(usage bench.Usage, n int) map[string]float64 {
	figures := usage.PerOp(n)
	figures["allocs/op"] = math.Round(figures["allocs/op"]*1000) / 1000
	figures["B/op"] = math.Round(figures["B/op"]*100) / 100
	return figures
}
