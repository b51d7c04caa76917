// Package selector parses and evaluates the label and field selectors of list, watch and delete-collection requests.
//
// # Concept
//
// A selector is a list of requirements, all of which must hold. Label selectors compare labels:
//
//	app=web            the label is there and has this value; == means the same
//	app!=web           the label is not there, or has another value
//	app in (web, db)   the label is there and has one of these values
//	app notin (web)    the label is not there, or has another value
//	app                the label is there
//	!app               the label is not there
//	load>7, load<9     the label is there and is a whole number above, below
//
// Field selectors compare fields of the object, and know only =, == and !=. Which fields a type lets clients select by
// is not decided here: the caller looks at [Fields.Requirements].
//
// # Guarantees
//
// The empty selector selects everything. What is accepted, what is refused and the text of refusals are
// kube-apiserver's; clients see them as the message of a 400. [Labels.String] and [Fields.String] write a selector
// that parses to the same one again.
//
// # Goroutines
//
// None. Selectors are immutable; any goroutine may use them.
//
// # Failure
//
// The Parse functions return an error whose text is for the client.
//
// # Testing
//
// Sentences taken down from a kube-apiserver, fuzz targets for both parsers (no input makes them panic, what parses
// can be written and parsed again), and properties.
//
// Next: package resources
package selector
