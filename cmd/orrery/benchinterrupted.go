package main

import (
	"fmt"
)

// interruptedError says that somebody did not want to wait any longer.
type interruptedError struct {
	run   string // empty if there was only one
	phase string
	ended int // runs that had ended before
}

func (e *interruptedError) Error() string {
	text := "interrupted"
	if e.phase != "" {
		text += fmt.Sprintf(" during %q", e.phase)
	}
	if e.run != "" {
		text += " of " + e.run
	}
	text += "; a run that has not ended has no result"
	if e.ended > 0 {
		text += fmt.Sprintf(", %d had ended before", e.ended)
	}
	return text
}
