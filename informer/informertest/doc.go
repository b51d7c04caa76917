// Package informertest has what tests of informers need: a server in memory, and the contract that every kind of
// informer has to keep.
//
// # Concept
//
// [FakeSource] is a collection that can be listed and watched, with versions and a history, so that nothing gets
// lost between list and watch. It can be made to misbehave in all the ways of a real server: refuse, break off, go
// silent, forget its history.
//
// [Run] is the contract: behaviour written down once and put to several implementations, the one of this project
// with either kind of listener, and client-go's behind an adapter. Where they differ on purpose there is a
// [Capability] with the reason, and the contract asserts what an implementation without it does instead; nothing is
// skipped.
//
//	informertest.Run(t, informertest.Implementation{
//		New: func(t testing.TB, source *informertest.Source, cfg informertest.InformerConfig) informertest.Informer {
//			return myInformer(source, cfg)
//		},
//		SurvivePanics: ...,
//		Lacks:         map[informertest.Capability]string{informertest.ArrivalOrder: "it has a DeltaFIFO"},
//	})
//
// # Guarantees
//
// A case of the contract is a few lines that say what happens and what a handler is told, as text. The last group
// makes random histories; what it finds is made small and can be repeated (see package rapid).
//
// # Goroutines
//
// The source starts none. Each case of the contract runs in a synctest bubble of its own, with its own time, and
// fails if the informer leaves a goroutine.
//
// # Failure
//
// Everything is told to the testing.T of the case.
//
// # Testing
//
// The contract is tested by what it is put to, the source by tests beside it.
//
// Next: package restclient
package informertest
