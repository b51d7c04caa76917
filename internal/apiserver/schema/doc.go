// Package schema knows the fields of the types that the built-in API server serves.
//
// # Concept
//
// A [Type] describes one place in a document: what kind of value stands there, which fields it has, and how a patch
// is merged into it. The types of Kubernetes itself come with the program ([Builtin]); they were recorded from the
// OpenAPI documents of a running kube-apiserver, without its texts. Four questions are answered from them: does a
// document have fields that its type does not know, or values that do not fit ([Type.Check]); has it a key twice
// ([Duplicates]); how is a list merged by a strategic merge patch (package patch asks); and what do clients such as
// kubectl learn about the types ([OpenAPIV2], [OpenAPIV3]).
//
// # Guarantees
//
// A Set and its Types never change after they were made. Findings are worded as kube-apiserver words them, and come in
// its order: as the fields stand in the document's sorted keys.
//
// # Goroutines
//
// None. Everything here may be used by any number of goroutines at once.
//
// # Failure
//
// A type that is not known is reported by a false, never by a panic. A document is data: whatever it holds, it
// results in findings.
//
// # Testing
//
// The wording is compared with answers recorded from kube-apiserver (testdata); the OpenAPI documents are read by
// kubectl in the end-to-end tests.
//
// Next: package patch
package schema
