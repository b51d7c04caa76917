package bench

// Result is one run of a benchmark with the parameters that somebody chose.
type Result struct {
	// Bench is the command: "queue".
	Bench string `json:"bench"`
	// Subject is what was measured: "orrery", or the name of a design ("fast").
	Subject string `json:"subject"`
	// Parameters are the flags that mattered, in the order of their importance.
	Parameters []Parameter `json:"-"`
	// Figures are the numbers, the most important first.
	Figures []Figure `json:"figures"`
	// Latency is from when an event was due until it was dealt with; nil if the benchmark has none.
	Latency *Histogram `json:"-"`
	// Proof says what was checked.
	Proof []string `json:"proof"`
}

// Parameter is a flag with the value that it had.
type Parameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Figure is a number that a run has produced.
type Figure struct {
	// Name says what was measured: "processed", "peak memory".
	Name string `json:"name"`
	// Unit is what it was measured in: "1/s", "ns", "B". Values are never scaled; whoever prints them does that.
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	// Better says which way is up.
	Better Better `json:"better"`
}

// Figure returns the figure of that name.
func (r *Result) Figure(name string) (Figure, bool) {
	for _, f := range r.Figures {
		if f.Name == name {
			return f, true
		}
	}
	return Figure{}, false
}

// Better says which values of a figure are better.
type Better string

// The two ways.
const (
	Lower  Better = "lower"
	Higher Better = "higher"
)

// The units of figures.
const (
	PerSecond   = "1/s"
	Nanoseconds = "ns"
	Bytes       = "B"
	Count       = "count"
	Seconds     = "s"
)
