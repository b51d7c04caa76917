package controller

import "io"

// NewFailures returns the function that writes failures.
func NewFailures(to io.Writer) func(what string, err error) {
	f := &failures{to: to}
	return f.report
}
