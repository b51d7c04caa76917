// Package recorder plays the scripts of internal/lab/apiserver/apiservertest with a genuine kube-apiserver and writes down
// what it answers: the recordings that this project's own server is compared with.
//
//	make -C upstream record                         # a fresh control plane for each script
//	go run ./apiserver/recorder/cmd/record --kubeconfig FILE   # one that runs
//
// # Concept
//
// Each script is played once, from its first case to its last, and each answer is written, masked, into the file beside
// the script. The control plane is a plain one: its only controller is the garbage collector, since deletion in general
// is part of what is compared, and the admission plugin ServiceAccount is off, which would have no pod in a namespace
// without the controller for service accounts.
//
// # Guarantees
//
// A recording is written only when every case of its script got an answer. Recording twice changes no file.
//
// # Goroutines
//
// Those of package controlplane, ended before the recorder returns.
//
// # Failure
//
// A case without an answer ends the recording with the theme and the title of the case.
//
// # Testing
//
// The package's test plays all scripts with a fresh control plane and compares the answers with the recordings, so it
// fails when a recording says something that depends on chance or on the day.
//
// Next: package upstream/e2e
package recorder
