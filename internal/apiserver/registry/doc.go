// Package registry knows what an API server does with objects: the verbs, over the versioned store.
//
// # Concept
//
// # Guarantees
//
// # Goroutines
//
// # Failure
//
// # Testing
//
// Next: package garbagecollector
package registry
