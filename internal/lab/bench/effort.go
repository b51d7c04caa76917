package bench

import "fmt"

// Effort is how much work a scenario does.
type Effort uint8

const (
	// Full is for published figures.
	Full Effort = iota
	// Quick does less of the same work, to guard against regressions.
	Quick
)

// ParseEffort returns the effort with the given name.
func ParseEffort(text string) (Effort, error) {
	for _, e := range []Effort{Full, Quick} {
		if text == e.String() {
			return e, nil
		}
	}
	return Full, fmt.Errorf("there is no effort %q: choose %s or %s", text, Full, Quick)
}

func (e Effort) String() string {
	if e == Quick {
		return "quick"
	}
	return "full"
}

// MarshalText implements encoding.TextMarshaler.
func (e Effort) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (e *Effort) UnmarshalText(text []byte) (err error) {
	*e, err = ParseEffort(string(text))
	return err
}

// Of returns full, or quick for a quick run.
func (e Effort) Of(full, quick int) int {
	if e == Quick {
		return quick
	}
	return full
}
