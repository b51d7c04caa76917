//go:build !unix

package demo

// unsuspendable does nothing where programs cannot be suspended.
func unsuspendable() (release func()) { return func() {} }
