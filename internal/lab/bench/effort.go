package bench

import "fmt"

// Effort is how much work a scenario does.
type Effort uint8

const (
	// Full is for figures that are published.
	Full Effort = iota
	// Quick is for a guard against regressions: the same work, less of it.
	Quick
)

// ParseEffort returns the effort of that name.
func ParseEffort(text string) (Effort, error) {
	for _, e := range []Effort{Full, Quick} {
		if text == e.String() {
			return e, nil
		}
	}
	return Full, fmt.Errorf("there is no effort %q: choose %s or %s", text, Full, Quick)
}

// String returns the name of the effort.
func (e Effort) String() string {
	if e == Quick {
		return "quick"
	}
	return "full"
}

// MarshalText writes the name of the effort.
func (e Effort) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads the name of an effort.
func (e *Effort) UnmarshalText(text []byte) (err error) {
	*e, err = ParseEffort(string(text))
	return err
}

// Of returns full, or quick for a quick run: the number of operations, of objects, of whatever there is less of.
func (e Effort) Of(full, quick int) int {
	if e == Quick {
		return quick
	}
	return full
}
