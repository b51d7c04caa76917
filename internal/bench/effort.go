package bench

// Effort is how much work a scenario does.
type Effort uint8

const (
	// Full is for figures that are published.
	Full Effort = iota
	// Quick is for a guard against regressions: the same work, less of it.
	Quick
)

// String returns the name of the effort.
func (e Effort) String() string {
	if e == Quick {
		return "quick"
	}
	return "full"
}

// Of returns full, or quick for a quick run: the number of operations, of objects, of whatever there is less of.
func (e Effort) Of(full, quick int) int {
	if e == Quick {
		return quick
	}
	return full
}
