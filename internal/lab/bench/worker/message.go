package worker

import "orrery/internal/lab/bench"

// request is a line that a worker reads: do a scenario, or list them all.
type request struct {
	Scenario string `json:"scenario,omitempty"`
	// Effort is the name of a bench.Effort.
	Effort string `json:"effort,omitempty"`
	List   bool   `json:"list,omitempty"`
}

// answer is the line that a worker writes for each request: an outcome, an error, or the list.
type answer struct {
	Outcome   *bench.Outcome `json:"outcome,omitempty"`
	Error     string         `json:"error,omitempty"`
	Scenarios []listed       `json:"scenarios,omitempty"`
}

// listed is a scenario in the list.
type listed struct {
	Name  string `json:"name"`
	Fresh bool   `json:"fresh,omitempty"`
}
