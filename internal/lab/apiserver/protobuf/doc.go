// Package protobuf reads Kubernetes objects in protobuf.
//
// # Concept
//
// kubectl create and the typed clients of client-go send the objects that they make in protobuf, and do not ask first whether a
// server reads it. They say in the same breath that they take JSON for an answer, so reading is enough, and this package does not
// write.
//
// A body is four magic bytes and an envelope, which says what is inside: kind, version, and the object as a message. The numbers of
// its fields mean nothing by themselves. What they stand for is in messages.txt, taken down from the Go types of Kubernetes by a
// recorder in the module upstream. [Decode] makes of it what the same object in JSON would have become.
//
// # Guarantees
//
// The tree has the types of package api: strings, int64, float64, bool, maps and slices. Fields that Go would leave out of JSON,
// because they are empty, are left out. Fields that are not in messages.txt are skipped, as protobuf wants it.
//
// # Goroutines
//
// None. Everything may be called from any goroutine.
//
// # Failure
//
// What cannot be read is an error with a sentence for the client; a kind that is not in the file is a [*KindError]. Nesting is
// bounded.
//
// # Testing
//
// Bodies that kubectl has sent, taken down, and random bytes. In the module upstream, objects of every kind are written by
// Kubernetes' own code, in both forms, and have to come out equal.
//
// Next: package registry
package protobuf
