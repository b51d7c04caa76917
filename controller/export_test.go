package controller

import "io"

// RunProgram is Main without its end.
var RunProgram = run

// NewFailures returns the function that writes failures.
func NewFailures(to io.Writer) func(what string, says any) {
	f := &failures{to: to}
	return f.report
}
