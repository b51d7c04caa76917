// Package why says why a namespace hangs in Terminating, with proof.
//
// Three steps, of which only the first asks the server:
//
//	collect.Collect ──▶ Evidence ──▶ Judge ──▶ Report ──▶ text, JSON, YAML
//	read-only requests  plain data   pure      findings with their proofs
//
// [Evidence] is what the server answered, without opinion. It can be saved and judged again without
// a cluster. [Judge] has neither a clock nor a client: the same evidence gives the same report,
// byte for byte.
//
// # The catalogue
//
// catalogue.yaml has the known causes in the order of the report. Each is one row: its id, a
// lesson, what proves it, what to do and what not to do. The functions that look for them are named
// in catalogue.go, and grouped in files:
//
//	controllers.go  C19 C20 C21 C29 C30  the controllers, their rights, and those of the reader
//	servers.go      C01 C02 C03 C22 C23  other servers, and types that cannot be read or deleted
//	admission.go    C07 C08 C09          webhooks and policies
//	pods.go         C10 to C14           pods and what they hold
//	finalizers.go   C04 C05 C06 C15 C24  objects whose finalizer stays; owners.go has their owners
//	namespace.go    C16 C17 C18, C25 to C28  entries of the namespace itself, and its content
//
// To add a cause, write its row and its function, and its fixture with a solution in
// internal/lab/causes. If it needs a request that no other cause needs, package collect sends it.
// Then write the examples and the page anew:
//
//	go test ./internal/lab/causes -run TestExamples -update
//	go test ./internal/why -run Page -update
//
// # Proof
//
// A condition of the namespace is only a statement: each one is verified by requests of our own. A
// finding is [Proven] if every part of its proof was seen, [Possible] if a part was not seen, and
// [Later] if it acts only once the others are gone. A part that was read and contradicts the cause
// means that there is no finding.
//
// Next: package internal/why/collect
package why
