//go:build !unix

package main

// suspendable does nothing where programs cannot be suspended.
func suspendable(_, _ func()) (release func()) { return func() {} }
