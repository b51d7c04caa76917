// Command orrery runs Kubernetes controllers on a runtime that is built by hand, without client-go.
//
// "orrery run" deletes the content of namespaces on a real cluster, in place of
// kube-controller-manager's own namespace controller. The other program, lab, has scenes, an API
// server in memory and benchmarks.
package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/words"
	"orrery/restclient"
	"orrery/restclient/api"
)

func main() {
	runtime.MemProfileRate = 0 // its samples are for --profiling, which switches them on
	os.Exit(runProgram(newCommand(os.Args[0]), os.Args[1:], os.Stdout, os.Stderr))
}

// newCommand returns the command of the program that was started by a path.
func newCommand(path string) *cobra.Command {
	if isPlugin(path) {
		return newPluginCommand()
	}
	return newRootCommand()
}

// runProgram runs a program and returns its exit code. Nothing that a cluster says reaches the
// terminal as it is; the log, which has colours, sees to that itself.
func runProgram(root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	return program.Run(root, args, words.NewWriter(stdout), words.NewWriter(stderr), explain)
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "orrery",
		Short: "Kubernetes controllers on a runtime built by hand",
		Long: `Orrery is the Kubernetes controller runtime rebuilt by hand in Go: a reflector
that lists and watches over raw HTTP, a DeltaFIFO, an indexer, a shared
processor, a work queue and a worker pool. On top of them stands the namespace
controller, which deletes namespaces on a real cluster. To see it work without a
cluster, use the other program: lab demo.`,
		Example: `  # delete namespaces on the cluster that kubectl talks to
  orrery run

  # see what it would do, without writing anything
  orrery run --dry-run

  # the leader and the terminating namespaces
  orrery status

  # why a namespace hangs in Terminating, and what to do
  orrery why shop

  # the minimal rights
  orrery rbac`,
	}
	root.AddCommand(newRunCommand(), newStatusCommand(), newWhyCommand(), newRBACCommand(),
		program.NewVersionCommand(root.Name()))
	return root
}

var errNothingToRun = errors.New("no controller is left to run; see --controllers")

// startError is the error of a run that could not start.
type startError struct {
	doing  string
	server string
	err    error
}

func (e *startError) Error() string {
	return fmt.Sprintf("%s at %s failed: %v", e.doing, e.server, e.err)
}

func (e *startError) Unwrap() error { return e.err }

// explain returns one sentence with the error and advice.
func explain(err error) string {
	return words.OneLine(sentence(err))
}

func sentence(err error) string {
	var start *startError
	if !errors.As(err, &start) {
		return err.Error()
	}
	what := start.Error()
	var transport *restclient.TransportError
	if errors.As(start.err, &transport) {
		what = transport.Sentence()
	}
	if advice := adviceFor(start.err); advice != "" {
		return strings.TrimSuffix(what, ".") + "; " + advice
	}
	return what
}

// adviceFor returns the usual advice. It recommends no built-in role: none includes the Lease
// that --leader-elect needs.
func adviceFor(err error) string {
	var transport *restclient.TransportError
	var unreadable *restclient.DecodeError
	switch {
	case api.IsUnauthorized(err):
		return "the server does not accept these credentials: check the user in the kubeconfig, or log in again"
	case api.IsForbidden(err):
		return "this user may not do that: \"orrery rbac\", with the flags of this run, prints the role that it needs"
	case api.IsNotFound(err), errors.Is(err, errNoAPIServer), errors.As(err, &unreadable):
		return transportAdvice[restclient.Redirected]
	case api.CodeOf(err) == http.StatusTooManyRequests, api.CodeOf(err) >= http.StatusInternalServerError:
		return "the server rejects requests for now: check \"kubectl get --raw /readyz?verbose\" and start again"
	case errors.As(err, &transport):
		return transportAdvice[transport.Kind]
	}
	return ""
}

var transportAdvice = map[restclient.TransportErrorKind]string{
	restclient.HostNotFound:        "check the server address in the kubeconfig",
	restclient.HostUnreachable:     "check that the cluster is running and that the kubeconfig points to it",
	restclient.CertificateUnknown:  "check certificate-authority in the kubeconfig",
	restclient.CertificateInvalid:  "check the server address, tls-server-name and the clock",
	restclient.CertificateRejected: "check client-certificate in the kubeconfig and whether it has expired",
	restclient.NotTLS:              "check the server address in the kubeconfig",
	restclient.NeedsTLS:            "check the server address in the kubeconfig",
	restclient.TimedOut:            "check that the cluster is running and that no firewall is in between",
	restclient.ProxyFailed:         "check HTTPS_PROXY, NO_PROXY and proxy-url in the kubeconfig",
	restclient.CredentialsFailed:   "check the user in the kubeconfig",
	restclient.Redirected: "the server that answers is not a Kubernetes API server: check the server address in the " +
		"kubeconfig",
}
