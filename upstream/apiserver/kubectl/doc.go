// Package kubectl compares kubectl's output on the server in memory with its output on a genuine
// control plane. A transcript in testdata is a terminal session: lines that begin with "$ "
// (continued by "> ") are run by a shell, the lines below are their output. Transcripts are written
// by hand up to the output, which
//
//	go test ./apiserver/kubectl -update
//
// records on a genuine control plane. The tests then play each transcript with each kubectl of this
// machine (bin/kubectl and the one in PATH) on "lab serve", and with bin/kubectl on a genuine
// control plane. docs/learn/first-hour.md is a transcript too. Ages, times, UIDs, versions and
// addresses are masked; the rest of the output and the exit codes must be equal. The tests need
// bin/lab, bin/orrery, bin/controlplane and bin/kubectl.
package kubectl
