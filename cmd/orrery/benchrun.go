package main

import (
	"context"

	"orrery/internal/lab/bench"
)

// benchRun is one run: of one design, with one value of the flag that is varied.
type benchRun struct {
	// design is what the run is called among others: "fast".
	design string
	// value is what the varied flag has; empty if none is varied.
	value string
	do    func(ctx context.Context, meter *bench.Meter) (*bench.Result, error)
}
