//go:build !unix

package demo

// suspendable does nothing where programs cannot be suspended.
func suspendable(_, _ func()) (release func()) { return func() {} }
