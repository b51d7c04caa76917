// Package hooks joins trace hooks, so that several observers can look into one gear.
//
// # Concept
//
// A Trace is a struct of functions, in the manner of net/http/httptrace: one field for each thing that happens in a gear. Logs, metrics
// and Events each have a Trace of their own, and a gear takes one. The packages of the gears have a JoinTraces, which names the fields;
// what a field becomes is here: [Join] and its like for one hook, [Traces] for the whole struct.
//
// # Guarantees
//
// Hooks are called in the order of the arguments. What nobody has set stays nil, so that a gear still spends one branch on
// it; what one has set is that one's function, without another around it.
//
// # Goroutines
//
// None. A joined hook runs where the gear calls it.
//
// # Failure
//
// A hook that panics keeps those after it from being called, and the panic goes on.
//
// # Testing
//
// hookstest.Run shows that a JoinTraces forgets no field, with its order and its nils; each package that has one runs it.
//
// Next: package queue
package hooks
