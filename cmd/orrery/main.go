// Command orrery runs Kubernetes controllers on a runtime that is built by hand, without client-go.
//
// "orrery run" deletes the content of namespaces on a real cluster, in place of kube-controller-manager's own
// namespace controller. "orrery help" lists what else there is.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"orrery/internal/lab/bench/syncbench"
	"orrery/restclient"
)

func main() {
	syncbench.ServeIfAsked() // "orrery bench sync" starts this program as its server
	os.Exit(realMain(os.Args[1:], os.Stdout, os.Stderr))
}

// realMain runs the program and returns its exit code: 0 when it did what it was asked to, 1 when it could not, 130 when
// it was interrupted before it had.
func realMain(args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.ExecuteContext(context.Background()); err != nil {
		lastWord(stderr, lastSentence(err))
		if _, interrupted := errors.AsType[*interruptedError](err); interrupted {
			return exitInterrupted
		}
		return 1
	}
	return 0
}

// lastSentence says why the program ends.
func lastSentence(err error) string { return "orrery: " + restclient.Redact(explain(err)) }

// lastWordLimit is how long the end of the program waits for a reader.
const lastWordLimit = time.Second

// lastWord writes the sentence that the program ends with. A pipe that nobody reads does not keep it from ending.
func lastWord(stderr io.Writer, sentence string) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		fmt.Fprintln(stderr, sentence)
	}()
	select {
	case <-written:
	case <-time.After(lastWordLimit):
	}
}
