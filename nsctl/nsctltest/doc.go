// Package nsctltest is the behaviour of a namespace deleter written down as tests.
//
// # Concept
//
// [Run] takes a [Form] of the deleter and asserts what package nsctl promises. It runs against the
// textbook form, against the fast form, and against your own. [Cluster] is the server's half: a
// scripted API server with namespaces, content, discovery, and a hook that can refuse any request.
// The scenarios speak HTTP to it over an in-memory connection.
//
// The model test plays worlds in which everything goes wrong at random: requests are refused, lost
// or slow, types vanish, servers of groups go down. It asserts that no namespace is finalized that
// holds something, that nothing is deleted in a namespace that is not terminating, and nothing but
// pods while there are pods.
//
// # Guarantees
//
// Where the forms differ there is a [Capability]. A form that lacks one says so, with the reason,
// and the suite asserts that it behaves in the other way. Nothing is skipped.
//
// # Goroutines
//
// Each test runs in a synctest bubble, which ends only when all goroutines in it have ended.
//
// # Failure
//
// A violation of the model names the namespace, what it held, and the seed with which it can be
// played again.
//
// # Testing
//
//	func TestContract(t *testing.T) {
//		nsctltest.Run(t, nsctltest.Form{New: newMyDeleter})
//	}
//
// Next: package nsctl/fast
package nsctltest
