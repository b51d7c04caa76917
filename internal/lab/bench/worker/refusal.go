package worker

// Refusal is what a worker said instead of an outcome: that it has no such scenario, or what went wrong in it.
type Refusal struct {
	// Text is the worker's error, which has crossed a process boundary and is only text by now.
	Text string
}

func (e *Refusal) Error() string { return e.Text }
