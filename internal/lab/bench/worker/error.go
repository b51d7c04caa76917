package worker

import "fmt"

// Error says which scenario of which side did not run. Its cause is what [errors.As] finds behind it.
type Error struct {
	// Side is the name of the process.
	Side string
	// Scenario is what it was asked to do, or empty if it could not be asked.
	Scenario string
	// Err is why: a [*Refusal] if the worker said so itself.
	Err error
}

func (e *Error) Error() string {
	if e.Scenario == "" {
		return fmt.Sprintf("%s: %v", e.Side, e.Err)
	}
	return fmt.Sprintf("%s on %s: %v", e.Scenario, e.Side, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
