// Package reflectortest has the behaviour of a reflector as a suite, which is put to every form of it.
//
// # Concept
//
// [Run] makes reflectors over an informertest.FakeSource and a [Memory] store, lets things happen, and asserts what the store was told
// and what the server was asked:
//
//	reflectortest.Run(t, reflectortest.Implementation{New: func(cfg reflectortest.Config) reflectortest.Reflector { return myReflector(cfg) }})
//
// What a form lacks on purpose has a [Capability], with the reason.
//
// # Guarantees
//
// A case fails with a message that names the behaviour. No case depends on how fast the machine is.
//
// # Goroutines
//
// Each case runs in a synctest bubble, with its own time, and fails if the reflector leaves a goroutine.
//
// # Failure
//
// Everything is reported to the testing.T of the case.
//
// # Testing
//
// The suite is tested by the forms that it is put to.
//
// Next: package informer/reflector/machine
package reflectortest
