// Package structural knows what the author of a CustomResourceDefinition says about the objects of the new type.
//
// # Concept
//
// A definition brings an OpenAPI schema for each of its versions. kube-apiserver wants it to be structural: the types stand in one
// tree of properties and items, and anyOf, oneOf, allOf and not only narrow down what is there. Then a server can do with it what it
// does with its own types:
//
//   - [Check] looks at the schema when the definition is written, and names every mistake;
//   - [Schema.FillIn] fills in defaults and drops nulls that may not be there;
//   - [Schema.Validate] compares values with types, bounds, patterns, formats and the rest;
//   - [Schema.Lists] finds duplicates in sets and in lists with keys;
//   - [Schema.Evaluate] evaluates the rules (x-kubernetes-validations), which are expressions in CEL.
//
// Unknown fields are dropped by package schema, which does so for all types.
//
// JSON-schema libraries give other sentences, in another order, so that this part is written by hand; the expressions are
// compiled and evaluated by google/cel-go, as in kube-apiserver.
//
// # Guarantees
//
// Sentences are those of kube-apiserver, letter by letter. Where it has the order of a Go map, which is another each time, fields
// come in the order of their names. What was wrong before may stay as it is in an update.
//
// # Goroutines
//
// None. A Schema does not change, and may be used by any number of goroutines.
//
// # Failure
//
// Mistakes are lists of [apierrors.FieldError]. A rule that uses what the language lacks here (see language.go) is a mistake in
// the definition. The cost of one evaluation is bounded.
//
// # Testing
//
// The conversation schemas of package apiservertest has every kind of mistake, and the definitions of three well-known projects.
//
// Next: package resources
package structural
