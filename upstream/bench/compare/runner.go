package compare

import (
	"context"

	"orrery/internal/lab/bench"
)

// Runner lets one side do a scenario once. It does not return before that side is at rest again, so that the next one
// has the machine to itself.
type Runner interface {
	Run(ctx context.Context, side Side, scenario string, effort bench.Effort) (bench.Outcome, error)
}
