package report

import (
	"io"

	"orrery/internal/bench"
)

// Table writes results side by side.
func Table(w io.Writer, results []*bench.Result) error { return nil }

// JSON writes results as JSON.
func JSON(w io.Writer, results []*bench.Result) error { return nil }

// CSV writes results as CSV.
func CSV(w io.Writer, results []*bench.Result) error { return nil }
