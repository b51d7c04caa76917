package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orrery/internal/app/program"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/observe/logs"
	"orrery/internal/words"
	"orrery/restclient"
	"orrery/restclient/kubeconfig"
)

// serveOptions are the flags of "lab serve".
type serveOptions struct {
	listen        string
	kubeconfigOut string
	faults        []string
	insecureHTTP  bool
	nodes         uint64
	verbosity     uint64
}

func (o *serveOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "the `address` to listen on; port 0 is a free one")
	flags.StringVar(&o.kubeconfigOut, "kubeconfig-out", "", "the `file` to write the kubeconfig to, "+
		"readable only by its owner and removed at the end; default: a temporary file")
	flags.StringArrayVar(&o.faults, "fault", nil,
		"a `fault` that is active from the start (see: lab help faults); may be repeated")
	flags.BoolVar(&o.insecureHTTP, "insecure-http", false,
		"serve plain HTTP and treat every request as the administrator's; loopback only")
	flags.Uint64Var(&o.nodes, "nodes", 1, "how many nodes the built-in kubelet simulates; 0: pods stay Pending")
	flags.Uint64VarP(&o.verbosity, "v", "v", 0,
		"how much to log: 1 each answered request, 2 also the beginning of each request")
}

// check refuses invalid and dangerous values.
func (o *serveOptions) check() error {
	host, port, err := net.SplitHostPort(o.listen)
	_, noPort := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || noPort != nil:
		return fmt.Errorf("--listen must be an address with a port, such as 127.0.0.1:6443, not %q", o.listen)
	case !isLoopback(host) && o.insecureHTTP:
		return fmt.Errorf("--insecure-http is for the loopback interface, and --listen=%s is open to others: "+
			"leave one of them out", o.listen)
	}
	return nil
}

// isLoopback reports whether only this machine can reach an address. The only name it accepts is
// localhost.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// newServeCommand returns "lab serve": an API server in memory for kubectl and for controllers. It
// prints the line that points kubectl at the server, and removes its temporary kubeconfig at the
// end. Neither errors nor log lines contain a token.
func newServeCommand() *cobra.Command {
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
	program.Complete(command, "v", "0", "1", "2")
	program.CompleteFiles(command, "kubeconfig-out")
	return command
}

// newFaultsTopic returns the help topic "help faults".
func newFaultsTopic() *cobra.Command {
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
		Writer: program.NewLostReader(stderr, stop), Verbosity: int(options.verbosity),
		Color: program.WantsColor(stderr),
	})
	defer logger.Stop()
	ctx, release := program.UntilSignal(ctx, func() {
		logger.Warn().Msg("second signal: stopping immediately, requests in flight are aborted")
		exitAtOnce()
	})
	defer release()

	server, err := apiserver.New(apiserver.Config{
		Listen: options.listen, TLS: !options.insecureHTTP, Unprotected: options.insecureHTTP,
		Nodes: int(options.nodes), NoKubelet: options.nodes == 0, Trace: loggedRequests(logger),
	})
	if err != nil {
		return err
	}
	defer stopServer(server)
	for _, text := range options.faults {
		if _, err := server.Faults().Add(text); err != nil {
			return program.UsageError{Command: "lab serve", Err: fmt.Errorf("--fault: %w", err)}
		}
	}
	if err := server.Start(ctx); err != nil {
		return fmt.Errorf("%w; choose another address with --listen, port 0 for a free one", err)
	}
	path, remove, err := placeKubeconfig(server, options.kubeconfigOut)
	if err != nil {
		return err
	}
	defer remove()
	if _, err := fmt.Fprint(program.NewLostReader(stdout, stop), greeting(server.URL(), path, options)); err != nil {
		return err // a server that cannot print its address is useless
	}

	<-ctx.Done()
	logger.Info().Msg("stopping: ending watches and waiting for requests; press Ctrl-C again to stop at once")
	return program.Stopped(ctx)
}

// greeting returns what is printed when the server is up.
func greeting(url, kubeconfig string, options *serveOptions) string {
	text := fmt.Sprintf("Kubernetes API server in memory at %s\n\n  export KUBECONFIG=%s\n  kubectl get namespaces\n",
		url, shellQuoted(kubeconfig))
	if options.insecureHTTP {
		text += fmt.Sprintf("  curl %s/api/v1/namespaces\n", url)
	}
	if len(options.faults) > 0 {
		text += fmt.Sprintf("\nFaults that are on: %s\n", strings.Join(options.faults, " "))
	}
	return text + "\nCtrl-C ends the server and everything in it.\n"
}

// shellQuoted quotes a path for a shell if necessary.
func shellQuoted(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@%,:") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// stopServer stops a server, and waits up to ten seconds for requests in flight.
func stopServer(server *apiserver.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = server.Stop(ctx) // an error means that requests were aborted
}

// loggedRequests returns hooks that log requests: with -v when they are answered, with -v2 also
// when they start.
func loggedRequests(l *logs.Logger) *apiserver.Trace {
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

// placed removes the kubeconfig that placeKubeconfig has written.
var placed atomic.Pointer[func()]

// exitAtOnce ends the process after a second signal. No kubeconfig with a token is left.
func exitAtOnce() {
	if remove := placed.Load(); remove != nil {
		(*remove)()
	}
	os.Exit(program.ExitInterrupted)
}

// placeKubeconfig writes the kubeconfig to the path, or to a new directory if there is none. It
// overwrites no file but an empty one and that of another server of this kind: the path may be
// ~/.kube/config. remove removes what was written, unless another server has written there since.
func placeKubeconfig(server *apiserver.Server, path string) (written string, remove func(), err error) {
	if path == "" {
		directory, err := os.MkdirTemp("", "orrery-")
		if err != nil {
			return "", nil, kubeconfigError(err)
		}
		path, remove = filepath.Join(directory, "kubeconfig"), func() { os.RemoveAll(directory) }
	} else {
		if !mayOverwrite(path) {
			return "", nil, fmt.Errorf("%s exists and is not a kubeconfig of \"lab serve\"; choose another place with "+
				"--kubeconfig-out", path)
		}
		if absolute, err := filepath.Abs(path); err == nil {
			path = absolute
		}
		remove = func() {
			if config, ok := ownKubeconfig(path); ok && config.Clusters[config.CurrentContext].Server == server.URL() {
				os.Remove(path)
			}
		}
	}
	placed.Store(&remove)
	if err := server.WriteKubeconfig(path); err != nil {
		remove()
		return "", nil, kubeconfigError(err)
	}
	return path, remove, nil
}

func kubeconfigError(err error) error {
	return fmt.Errorf("the kubeconfig cannot be written: %w; choose another place with --kubeconfig-out", err)
}

// mayOverwrite reports whether nothing is lost if a file is overwritten.
func mayOverwrite(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return true // there is none, or writing says what is wrong
	}
	_, own := ownKubeconfig(path)
	return own || info.Mode().IsRegular() && info.Size() == 0
}

// ownKubeconfig reads a kubeconfig; ok reports whether there is nothing in it but what a server has
// written.
func ownKubeconfig(path string) (config *kubeconfig.Config, ok bool) {
	config, err := kubeconfig.ReadFile(path)
	if err != nil || len(config.Clusters) != 1 || len(config.Users) != 1 || len(config.Contexts) != 1 {
		return nil, false
	}
	cluster := config.Clusters[config.CurrentContext]
	return config, cluster != nil && apiserver.Wrote(cluster)
}
