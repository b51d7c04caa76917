package bench

import "context"

// Scenario is a fixed piece of work on one subject, for comparing subjects with each other.
type Scenario struct {
	// Name is the same for all subjects: "queue/cycle".
	Name string
	// Fresh scenarios need a process in which nothing has run before, because they measure what a process holds at
	// most. Others share one process, which is warm.
	Fresh bool
	// Run does the work once and returns its figures, verified. meter may be nil.
	Run func(ctx context.Context, effort Effort, meter *Meter) (Outcome, error) `json:"-"`
}

// Outcome is what a scenario brings back.
type Outcome struct {
	// Figures by name: "ns/op", "allocs/op", "peak MiB". What a name means is the same for all subjects.
	Figures map[string]float64 `json:"figures"`
	// Proof says what was checked, in words that are the same for every subject that did the same work: "1000000 keys
	// processed once each". Subjects whose proofs differ did not do the same work and must not be compared.
	Proof string `json:"proof"`
}
