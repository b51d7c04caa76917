// Package informers holds client-go's shared informers against "lab serve".
//
// # Concept
//
// Informers of each of client-go's three clients (typed, dynamic, metadata), with and without streaming lists, with and
// without a selector, follow the server while several writers create, update, patch and delete objects of several types
// at random, watches are cut and history is compacted. Whenever the writers rest, every store has to come to hold
// exactly what a consistent list of the server says, and what the handlers were told has to lead to the same.
//
// The code is in the tests.
//
// # Testing
//
// The test needs bin/lab; "make e2e" in the repository's root builds it. Writers throw dice: a test that fails prints the
// seed, and ORRERY_SEED repeats its choices (not their timing).
//
// Next: package e2e, which runs namespace controllers on the same server.
package informers
