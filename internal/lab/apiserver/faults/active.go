package faults

import "time"

// Active is a fault that is on.
type Active struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// Text is the line that ordered it.
	Text string `json:"text"`
	// Hits is how often it has struck.
	Hits int `json:"hits"`
	// Left is how often it is still going to strike; -1 if that is not limited.
	Left int `json:"left"`
	// Until is when it ends; zero if it does not by itself.
	Until time.Time `json:"until,omitzero"`
}
