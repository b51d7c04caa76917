// Package resources knows the types that the built-in API server serves: what they are called, what the server fills
// in, what it refuses, and how it shows them as a table.
//
// # Concept
//
// An API server is a general machine (verbs over a versioned store) and a catalogue of types. The machine stands in
// package registry; this is the catalogue. A [Definition] describes one resource:
//
//   - its names: group, versions, plural, singular, kind, short names, categories, as discovery lists them;
//   - its subresources: status, finalize, scale;
//   - its [Strategy]: the hooks that the registry calls on the way to the store. Defaults are filled in first, then the
//     object is prepared for the verb (a write to an object keeps the stored status, a write to the status keeps
//     everything else, metadata.generation counts the changes of the spec), then it is checked;
//   - its [Column]s: how a row of `kubectl get` is made of an object.
//
// A [Catalog] holds the definitions of the built-in types and those of the custom resources of the moment, which come
// and go with their CustomResourceDefinitions. [Table] makes of a list what kubectl asks for by the Accept header
// "as=Table": the server, not kubectl, decides which columns there are.
//
// # Guarantees
//
// A Definition does not change once the catalog has it: a changed CustomResourceDefinition makes a new one. What hooks
// get as the old object they only read. Defaults are what kube-apiserver stores for the same manifest; a test compares
// both for every type (testdata/recorded).
//
// The schema of a custom resource says which fields there are: others are pruned, or refused if the client wants that. Package
// structural compares values with it, fills in its defaults and evaluates its rules.
//
// # Goroutines
//
// None. A Catalog may be used from any goroutine.
//
// # Failure
//
// What is wrong with an object is a list of [apierrors.FieldError], worded as kube-apiserver words it; the registry
// makes a 422 of it. No hook panics, whatever the object holds.
//
// # Testing
//
// The strategies are compared with what a kube-apiserver stored and answered (testdata, recorded by
// upstream/apiserver/typesrecorder), the tables with the rows that it sent.
//
// Next: package registry
package resources
