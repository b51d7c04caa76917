// Package apierrors makes the refusals of the built-in API server, with the codes, reasons and sentences of kube-apiserver.
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
// Next: package store
package apierrors
