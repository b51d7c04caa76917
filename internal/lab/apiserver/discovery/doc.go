// Package discovery tells clients what there is: the documents under /api and /apis.
//
// # Concept
//
// A client that knows nothing asks /api and /apis, and learns groups, versions, resources and verbs. There are two forms. The
// older one is a document for each group and version, small ones that a client fetches one after the other. The newer one,
// aggregated discovery (KEP-3352), is everything in two documents. [New] makes both from a catalogue of resources; nothing is
// made while somebody waits.
//
// # Guarantees
//
// Documents do not change. The aggregated ones have an ETag that is the same for the same content.
//
// # Goroutines
//
// None. Documents may be read from any goroutine.
//
// # Failure
//
// A group version whose server does not answer is listed as stale, so that a client knows that it does not know everything. This is
// the difference between "there is nothing" and "I cannot tell", on which the namespace controller depends: it must not let a
// namespace go while it cannot tell.
//
// # Testing
//
// The documents are compared with those of a real server for the resources that both have.
//
// Next: package registry
package discovery
