package nsctl

import (
	"fmt"
	"strings"
)

// ContentError is why a pass over a namespace's content failed: one error for each thing that went wrong.
// errors.Is and errors.As look through all of them.
type ContentError struct {
	Errors []error
}

func (e *ContentError) Error() string {
	if len(e.Errors) == 1 {
		return e.Errors[0].Error()
	}
	texts := make([]string, len(e.Errors))
	for i, err := range e.Errors {
		texts[i] = err.Error()
	}
	return fmt.Sprintf("%d errors: [%s]", len(texts), strings.Join(texts, ", "))
}

// Unwrap lets errors.Is and errors.As see the parts.
func (e *ContentError) Unwrap() []error { return e.Errors }

// err is everything that went wrong in the pass, or nil.
func (f *findings) err() error {
	var all []error
	for _, err := range []error{f.discoveryErr, f.parseErr} {
		if err != nil {
			all = append(all, err)
		}
	}
	all = append(all, f.contentErrs...)
	if len(all) == 0 {
		return nil
	}
	return &ContentError{Errors: all}
}
