package bench

import "fmt"

// ProofError says that the work was not done, so that its figures mean nothing.
type ProofError struct {
	// What was checked: "keys processed".
	What string
	// Want and Got are what should have been and what was.
	Want, Got any
}

func (e *ProofError) Error() string {
	return fmt.Sprintf("the work was not done: %s: got %v, want %v", e.What, e.Got, e.Want)
}

// Prove returns a *[ProofError] unless got is want.
func Prove[V comparable](what string, want, got V) error {
	if got == want {
		return nil
	}
	return &ProofError{What: what, Want: want, Got: got}
}
