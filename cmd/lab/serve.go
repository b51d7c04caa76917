// Package serve is the command "lab serve": an API server in memory for kubectl and for
// controllers. It prints the line that points kubectl at the server, and removes its temporary
// kubeconfig at the end. Neither errors nor log lines contain a token. The demo shares its
// kubeconfig file.
package serve

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"orrery/internal/app/program"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/observe/logs"
	"orrery/internal/words"
	"orrery/restclient"
)

// New returns the command "lab serve".
func New() *cobra.Command {
	options := &serveOptions{}
	command := &cobra.Command{
		Use:   "serve",
		Short: "Run a Kubernetes API server in memory",
		Long: `Runs a Kubernetes API server in memory. kubectl, client-go,
kube-controller-manager and "orrery run" work with it as with a real one. It
needs nothing but this program, and its content is lost when it ends.

It listens on the loopback interface with TLS and its own credentials, and
writes them to a kubeconfig. A garbage collector and a kubelet that simulates
nodes are built in.

Faults make it misbehave on demand. Each is a line of text,
kind:option=value,..., given with --fault or later to a running server.
"lab help faults" lists them.

  echo 'cut-watches' | kubectl create --raw /debug/orrery/faults -f -
  kubectl get --raw /debug/orrery/faults
  kubectl delete --raw /debug/orrery/faults/ID`,
		Example: `  # start a server; it prints the line that points kubectl at it
  lab serve

  # choose the port and the kubeconfig
  lab serve --listen 127.0.0.1:6443 --kubeconfig-out ./orrery.kubeconfig

  # answer a third of all requests with 429
  lab serve --fault too-many-requests:share=0.3,retry-after=2s

  # without TLS and credentials, for curl
  lab serve --insecure-http --listen 127.0.0.1:8080`,
		Args: program.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := options.check(); err != nil {
				return program.UsageError{Command: command.CommandPath(), Err: err}
			}
			return runServer(command.Context(), options, command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	options.addTo(command.Flags())
	cobra.CheckErr(command.RegisterFlagCompletionFunc("fault", completeFault))
	program.Complete(command, "v", "0", "1", "2")
	program.CompleteFiles(command, "kubeconfig-out")
	return command
}

// completeFault completes the names of faults.
func completeFault(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, kind := range faults.Catalogue() {
		name, _, _ := strings.Cut(kind.Usage, ":")
		names = append(names, strings.TrimSpace(name)+"\t"+kind.Summary)
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// NewFaultsTopic returns the help topic "help faults".
func NewFaultsTopic() *cobra.Command {
	var text strings.Builder
	text.WriteString("The faults of \"lab serve\". Each is a line of text, kind:option=value,...\n" +
		"Each may have while=RESOURCE/NAME (active only while that object exists),\n" +
		"unless=RESOURCE/NAME (only while it does not) and unless-ready=NAMESPACE/SERVICE\n" +
		"(only while that Service has no ready endpoint).\n")
	for _, kind := range faults.Catalogue() {
		fmt.Fprintf(&text, "\n  %s\n", kind.Usage)
		for _, part := range []string{kind.Summary, "Teaches: " + kind.Teaches} {
			for _, line := range words.Wrap(part, 74) {
				text.WriteString("      " + line + "\n")
			}
		}
	}
	return &cobra.Command{Use: "faults", Short: "Faults that the server can inject", Long: text.String()}
}

// runServer starts the server, prints its address, and waits for a signal.
func runServer(ctx context.Context, options *serveOptions, stdout, stderr io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	program.OutlivePipes()
	logger := logs.Start(logs.Config{
		Writer: program.NewLostReader(stderr, stop), Verbosity: options.verbosity, Color: program.WantsColor(stderr),
	})
	defer logger.Stop()
	var cleanUp atomic.Pointer[func()] // set when there is something to clean up
	ctx, release := program.UntilSignal(ctx, func() {
		logger.Warn().Msg("second signal: stopping immediately, requests in flight are aborted")
		if remove := cleanUp.Load(); remove != nil {
			(*remove)()
		}
		os.Exit(program.ExitInterrupted)
	})
	defer release()

	config := options.config()
	config.Trace = served(logger)
	server, err := apiserver.New(config)
	if err != nil {
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		server.Stop(ending)
	}()
	for _, text := range options.faults {
		if _, err := server.Faults().Add(text); err != nil {
			return program.UsageError{Command: "lab serve", Err: fmt.Errorf("--fault: %w", err)}
		}
	}
	if err := server.Start(ctx); err != nil {
		return fmt.Errorf("%w; choose another address with --listen, port 0 for a free one", err)
	}
	path, remove, err := PlaceKubeconfig(server, options.kubeconfigOut, options.force)
	if err != nil {
		return err
	}
	defer remove()
	cleanUp.Store(&remove)
	if _, err := fmt.Fprint(program.NewLostReader(stdout, stop), greeting(server.URL(), path, options)); err != nil {
		return fmt.Errorf("the address of the server cannot be shown: %w", err)
	}

	<-ctx.Done()
	logger.Info().Msg("stopping: ending watches and waiting for requests; press Ctrl-C again to stop at once")
	return program.Stopped(ctx)
}

// greeting returns what is printed when the server is up.
func greeting(url, kubeconfig string, options *serveOptions) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Kubernetes API server in memory at %s\n\n", url)
	fmt.Fprintf(&text, "  export KUBECONFIG=%s\n", ShellQuoted(kubeconfig))
	text.WriteString("  kubectl get namespaces\n")
	if options.insecureHTTP {
		fmt.Fprintf(&text, "  curl %s/api/v1/namespaces\n", url)
	}
	if len(options.faults) > 0 {
		fmt.Fprintf(&text, "\nFaults that are on: %s\n", strings.Join(options.faults, " "))
	}
	text.WriteString("\nCtrl-C ends the server and everything in it.\n")
	return text.String()
}

// ShellQuoted quotes a path for a shell if necessary.
func ShellQuoted(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@%,:") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// stopLimit is how long the first Ctrl-C waits for requests.
const stopLimit = 10 * time.Second

// served returns hooks that log requests: with -v when they are answered, with -v2 also when they
// start.
func served(l *logs.Logger) *apiserver.Trace {
	return &apiserver.Trace{
		RequestStarted: func(info apiserver.RequestInfo) {
			l.At(2).Str("method", info.Method).Str("path", restclient.Redact(info.URI)).
				Str("verb", info.Verb).Str("user", info.User).Str("client", info.UserAgent).Msg("request begins")
		},
		RequestDone: func(info apiserver.RequestInfo, result apiserver.RequestResult) {
			l.At(1).Str("method", info.Method).Str("path", restclient.Redact(info.URI)).Int("code", result.Code).
				Str("verb", info.Verb).Str("user", info.User).Str("client", info.UserAgent).
				Int64("bytes", result.Bytes).Dur("took_s", result.Duration.Round(time.Microsecond)).
				Msg("request served")
		},
		Panicked: func(info apiserver.RequestInfo, value any, stack []byte) {
			l.Error().Str("method", info.Method).Str("path", restclient.Redact(info.URI)).
				Str("panic", restclient.Redact(fmt.Sprint(value))).Bytes("stack", stack).
				Msg("a handler panicked; the server goes on")
		},
	}
}
