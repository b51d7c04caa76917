// Package patch applies what a client sends with PATCH.
//
// # Concept
//
// There are three languages for changing a document. A JSON patch (RFC 6902) is a list of operations on places; a merge
// patch (RFC 7386) is a document of the fields that change, where null removes and lists are replaced; a strategic
// merge patch is Kubernetes' own extension of it, which knows from the schema which lists are keyed sets, and has
// directives ($patch, $retainKeys, ...) for what a document cannot say. [Apply] is all three.
//
// # Guarantees
//
// The current document is not changed, and the result shares nothing with it. The cost is bounded: operations, depth
// and size of the result have limits.
//
// # Goroutines
//
// None. Apply may be called by any number of goroutines.
//
// # Failure
//
// Every error is an *api.StatusError with the code, reason and message that kube-apiserver gives. No patch makes Apply
// panic (FuzzApply).
//
// # Testing
//
// testdata has pairs of documents and patches with the result that a real kube-apiserver gave.
//
// Next: package apiserver
package patch
