// Package pods makes the objects that queues and stores are measured with: heads of pods, as many as one likes.
//
// # Concept
//
// A [Pod] is what a benchmark knows of an object: where it lives, its number, how large it is. Each subject makes its
// own type of object from it: this project an api.PartialObjectMetadata (see [Pod.Metadata]), client-go that of
// metav1. Both have the same fields with the same content, and compute their keys from namespace and name.
//
//	Make(100_000, 100) ──> namespace-000/web-7c5ddbdf54-00000 ... namespace-099/web-7c5ddbdf54-99999
//
// # Guarantees
//
// Objects share no strings except those of their labels, as they do when a decoder has made them. The number of a pod
// is in the object, where a benchmark finds it again without looking anything up: in the field "generation".
//
// # Goroutines
//
// None are started; functions may be called by any.
//
// # Failure
//
// There is none.
//
// # Testing
//
// That keys are as described, distinct, and evenly spread.
//
// Next: package fifobench
package pods
