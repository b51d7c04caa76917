// Package servecmd holds the command "lab serve": an API server in memory for kubectl and for controllers.
//
// # Concept
//
// Flags become an [apiserver.Config]; the server starts, and the command prints the line that tells kubectl about it. The demo
// uses the same kubeconfig file and the same sentences for an address that cannot be listened on.
//
// # Guarantees
//
// A kubeconfig that was not asked for is removed at the end. Neither errors nor log lines contain a token.
//
// # Goroutines
//
// The server's own, which have ended when the command returns, and the one that waits for signals.
//
// # Failure
//
// Each mistake is one sentence that names the flag to change.
//
// # Testing
//
// Tests run the command and talk to the server with the kubeconfig that it printed.
//
// Next: package democmd
package servecmd
