// Package certtest makes certificates that live as long as a test.
//
// # Concept
//
// Tests of credentials need certificates that programs hand over in files and on standard output, and that run out while
// somebody looks. A file in testdata would run out in earnest one day, so each test makes its own:
//
//	pair := certtest.New(t, "alice")
//	os.WriteFile(file, pair.Cert, 0o600) // PEM, as kubeconfig files and plugins have it
//
// Servers of tests have an authority of their own, package restclient/restclienttest: these certificates are for clients.
//
// # Guarantees
//
// A certificate is valid from a minute ago, because clocks of a test may differ, until an hour from now. Now is that of the
// bubble inside of one of testing/synctest, where an hour is over in no time. No two certificates have the same key: what
// is reloaded can be told from what was there before.
//
// # Goroutines
//
// There are none. Everything may be called from any goroutine of a test.
//
// # Failure
//
// What cannot be made fails the test at once, so New returns no error.
//
// # Testing
//
// The packages that use it are its tests: a certificate that nobody can use fails the handshakes of package
// restclient/credentials.
//
// Next: package restclient/credentials
package certtest
