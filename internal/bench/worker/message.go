package worker

import "orrery/internal/bench"

// request is a line that a worker reads.
type request struct {
	Scenario string `json:"scenario"`
	// Effort is the name of a bench.Effort.
	Effort string `json:"effort"`
}

// answer is the line that a worker writes for each request: an outcome or an error.
type answer struct {
	Outcome *bench.Outcome `json:"outcome,omitempty"`
	Error   string         `json:"error,omitempty"`
}
