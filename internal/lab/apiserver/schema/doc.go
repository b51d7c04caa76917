// Package schema knows the fields of the types that the built-in API server serves.
//
// # Concept
//
// A [Type] describes one place in a document: what kind of value stands there, which fields it has, and how a patch
// is merged into it. The types of Kubernetes come with the program ([Builtin]): builtin.jsonl was recorded from the
// OpenAPI documents of a running kube-apiserver, without its texts, and completed with what only its Go types know (the
// names that appear in error messages, and which empty fields are not written). Types of custom resources are made from
// the schema of their definition ([Custom]). Five questions are answered from them:
//
//   - Has a document fields that its type does not know, or values that do not fit? [Type.Check]
//   - What remains of a document when it has been read into its type and written again? [Type.Prune]
//   - Has a document a key twice, which a tree cannot show any more? [Duplicates]
//   - How is a list merged by a strategic merge patch? [Type.MergeKey], [Type.PatchStrategy]; package patch asks.
//   - What do clients such as kubectl learn about the types? [OpenAPIV2], [OpenAPIV3Index], [OpenAPIV3]
//
// kube-apiserver has Go structs for its types and generates all of this from them. A server that has trees instead of structs
// needs the description as data, and one description is enough for all five.
//
// The sentences of kubectl explain are our own: descriptions.txt.
//
// # Guarantees
//
// A Set and its Types never change after they were made. Sentences are those of kube-apiserver, letter by letter. The documents
// of OpenAPI are the same bytes for the same resources.
//
// # Goroutines
//
// None. Everything here may be used by any number of goroutines at once.
//
// # Failure
//
// A type that is not known is reported by a false, never by a panic, and a nil Type is a place where everything fits. A document is
// data: whatever it holds, it results in findings, of which there are at most 100. What a user writes into the schema of a
// custom resource is data as well.
//
// # Testing
//
// testdata/documents.jsonl has documents, right and wrong in many ways, with the sentence that a kube-apiserver gave; make -C
// upstream record-schema record-patches writes it and builtin.jsonl anew. Amounts are compared with the original in
// upstream/apiserver/contract. Every sentence of descriptions.txt must be about
// something that exists, every reference in a document must lead somewhere, and FuzzDuplicates looks for false alarms. kubectl
// reads the documents in the end-to-end tests.
//
// Next: package patch
package schema
