package compare

import "fmt"

// ProofsDifferError says that two sides did not do the same work.
type ProofsDifferError struct {
	Measure      string
	Ours, Theirs string
	Against      Side
}

func (e *ProofsDifferError) Error() string {
	return fmt.Sprintf("%s: the sides did not do the same work: ours proves %q, %s proves %q", e.Measure, e.Ours, e.Against, e.Theirs)
}
