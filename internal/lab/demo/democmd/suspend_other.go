//go:build !unix

package democmd

// suspendable does nothing where programs cannot be suspended.
func suspendable(_, _ func()) (release func()) { return func() {} }
