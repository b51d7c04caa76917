// Package negotiation agrees with a client on the form of an answer.
//
// # Concept
//
// A client says by its Accept header what it can read: JSON or YAML, the whole object, only its metadata, or a table for people.
// [Negotiate] reads the header and returns a [Form]. Where a client names several, its order and weights decide, and what this
// server does not have is passed over, so that a client that prefers protobuf and takes JSON gets JSON.
//
// # Guarantees
//
// What is agreed on is what is sent, refusals included.
//
// # Goroutines
//
// None.
//
// # Failure
//
// A header that leaves nothing is refused with 406, in JSON.
//
// # Testing
//
// Headers as kubectl, client-go and browsers send them, and random ones.
//
// Next: package stream
package negotiation
