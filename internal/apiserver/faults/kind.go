package faults

// Kind describes one kind of fault.
type Kind struct {
	// Name begins the line that orders the fault.
	Name string
	// Usage is an example of such a line, with the options that matter for this kind.
	Usage string
	// Summary says in one sentence what the server does.
	Summary string
	// Teaches says in a sentence or two what one learns from it.
	Teaches string
}
