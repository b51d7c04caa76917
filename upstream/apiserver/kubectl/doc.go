// Package kubectl types commands at kubectl and compares what it prints on the API server in memory with what it prints
// on the genuine one.
//
// # Concept
//
// A transcript in testdata is a session at a terminal: lines that begin with "$ " (and "> " for further lines) are typed
// into a shell, the lines after them are what the command prints. The transcripts are written by hand up to the output,
// which comes from a genuine control plane:
//
//	go test ./apiserver/kubectl -update
//
// Then each is played with each kubectl of this machine (the one that "make -C upstream kubectl" builds, and the one in
// PATH, such as Debian's) on "lab serve", and with the first of them on a genuine control plane again.
//
// # Guarantees
//
// Ages, moments, UIDs, versions and addresses are masked. Everything else that is printed must be the same, and so must
// the status that a command ends with.
//
// # Goroutines
//
// Those of package controlplane. Commands run one after the other.
//
// # Failure
//
// A transcript that differs is shown as a whole, with what differs.
//
// # Testing
//
// The package has nothing but tests. They need bin/lab, bin/controlplane and bin/kubectl: "make e2e" builds them.
//
// Next: package upstream/e2e
package kubectl
