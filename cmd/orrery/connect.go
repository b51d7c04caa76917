package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/spf13/pflag"

	"orrery/cmd/orrery/controllers"
	"orrery/controller/leaderelection"
	"orrery/internal/app/program"
	"orrery/internal/observe/logs"
	"orrery/internal/observe/trace"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/restclient/kubeconfig"
)

// connect reads the configuration and returns a client whose connections are behind the fence. It
// sends nothing yet.
func connect(options *runOptions, logger *logs.Logger, observer *observer, recorder *trace.Recorder,
	fence *leaderelection.Fence) (*restclient.Client, error) {
	config, info, err := kubeconfig.Load(options.cluster.of())
	if err != nil {
		return nil, err
	}
	for _, warning := range info.Warnings {
		logger.Warn().Str("warning", warning).Msg("kubeconfig")
	}
	config.QPS, config.Burst = options.qps, options.burst
	config.WatchTransport = options.watchTransport
	config.MaxRetryAfter = longestRetryAfter
	config.MaxFrameBytes, config.MaxListBytes = maxObjectBytes, maxListBytes
	config.Codec = options.gears.Codec()
	config.UserAgent = "orrery/" + program.Version
	config.Credentials = hideFrom(logger, config.Credentials)
	config.Trace = restclient.JoinTraces(logger.Requests(), observer.metrics.Requests(config.Host), recorder.Requests())
	if options.electing() {
		config.Dial = fence.Dial(config.Dialer().DialContext)
	}
	return restclient.New(config)
}

// longestRetryAfter is the longest Retry-After that a worker obeys. If it is longer the pass fails
// and the worker continues with other namespaces: one aggregated API that is down must not block
// all of them.
const longestRetryAfter = 10 * time.Second

// The deleter asks every server of the cluster, those of aggregated APIs too, for pages of 500
// objects. These limits keep its memory within that of the deployment. Informers have the client's
// defaults.
const (
	maxObjectBytes = 4 << 20 // kube-apiserver takes 3 MiB
	maxListBytes   = 8 << 20
)

// firstAnswer is the timeout of requests before the start: a silent server is reported instead of
// waited for.
const firstAnswer = 30 * time.Second

// greet checks that the server is a Kubernetes API server, reports rights that this user lacks, and
// checks that the user may list and watch namespaces if a controller needs it.
func greet(ctx context.Context, client *restclient.Client, options *runOptions, logger *logs.Logger) error {
	if err := logIn(ctx, client.Config(), logger); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, firstAnswer)
	defer cancel()
	version, err := recognize(ctx, client)
	if err != nil {
		return &startError{doing: "reaching the API server", server: client.Config().Host, err: err}
	}
	logger.Info().Str("server", client.Config().Host).Str("version", version).Stringer("gears", options.gears).
		Msg("connected")
	reportMissingRights(ctx, client, options, logger)
	if !options.chose(controllers.NamespaceController) {
		return nil
	}
	return mayWatch(ctx, client)
}

// errNoAPIServer is the error of an answer that no API server gives.
var errNoAPIServer = errors.New("the answer is not that of an API server")

// recognize returns the version of the server. Something else may answer every path at the address:
// a proxy, a login page.
func recognize(ctx context.Context, client *restclient.Client) (string, error) {
	discoverer := discovery.New(client)
	version, err := discoverer.ServerVersion(ctx)
	if err != nil {
		return "", err
	}
	core, err := discoverer.ServerResourcesForGroupVersion(ctx, api.GroupVersion{Version: "v1"})
	if err == nil && (version.GitVersion == "" || len(core.Resources) == 0) {
		err = errNoAPIServer
	}
	return version.GitVersion, err
}

// loginNotice is the delay before a line that reports waiting for credentials.
const loginNotice = 3 * time.Second

// logIn obtains the credentials before the first request and without its timeout: an exec plugin
// may ask the user to type a code into a browser.
func logIn(ctx context.Context, config restclient.Config, logger *logs.Logger) error {
	if config.Credentials == nil {
		return nil
	}
	notice := time.AfterFunc(loginNotice, func() { logger.Info().Msg("waiting for the credentials") })
	defer notice.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host, nil)
	if err == nil {
		err = config.Credentials.Apply(request)
	}
	if err != nil {
		err = &restclient.TransportError{Kind: restclient.CredentialsFailed, Verb: http.MethodGet, URL: config.Host,
			Err: err}
		return &startError{doing: "logging in", server: config.Host, err: err}
	}
	return nil
}

// mayWatch checks that this user may watch namespaces. Failures other than a refusal are left to
// the informer, which retries.
func mayWatch(ctx context.Context, client *restclient.Client) error {
	namespaces := restclient.Metadata(client, api.NamespacesResource, "")
	list, err := namespaces.List(ctx, api.ListOptions{Limit: 1})
	if api.IsNotFound(err) {
		return nil // the controller will be skipped
	}
	if err != nil {
		return &startError{doing: "listing namespaces", server: client.Config().Host, err: err}
	}
	watch, err := namespaces.Watch(ctx, api.ListOptions{ResourceVersion: list.ResourceVersion, TimeoutSeconds: 1})
	if api.IsForbidden(err) || api.IsUnauthorized(err) {
		return &startError{doing: "watching namespaces", server: client.Config().Host, err: err}
	}
	if err == nil {
		watch.Stop()
	}
	return nil
}

// hidden are credentials whose secrets the log censors, even where a server has put them into an
// answer.
type hidden struct {
	restclient.Credentials
	logger *logs.Logger
}

// hideFrom returns hidden credentials, or nil for nil.
func hideFrom(logger *logs.Logger, credentials restclient.Credentials) restclient.Credentials {
	if credentials == nil {
		return nil
	}
	return hidden{Credentials: credentials, logger: logger}
}

func (h hidden) Apply(request *http.Request) error {
	err := h.Credentials.Apply(request)
	for _, secret := range restclient.SecretsOf(request) {
		h.logger.Hide(secret)
	}
	return err
}

// clusterOptions are the flags that choose the cluster and the user, as kubectl's do.
type clusterOptions struct {
	kubeconfig string
	context    string
	as         string
	asGroups   []string
}

func (o *clusterOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the kubeconfig `file` to use; default: the files in "+
		"$KUBECONFIG, else ~/.kube/config, else the service account of the pod")
	flags.StringVar(&o.context, "context", "",
		"the `name` of the context to use; default: the current-context of the kubeconfig")
	flags.StringVar(&o.as, "as", "", "the `user` to make every request as; needs the right to impersonate")
	flags.StringArrayVar(&o.asGroups, "as-group", nil, "a `group` of that user; may be repeated")
}

func (o *clusterOptions) check() error {
	if len(o.asGroups) > 0 && o.as == "" {
		return errors.New("--as-group needs --as")
	}
	return nil
}

// of returns where the kubeconfig is, and which part of it is meant.
func (o *clusterOptions) of() kubeconfig.Options {
	return kubeconfig.Options{Path: o.kubeconfig, Context: o.context, As: o.as, AsGroups: o.asGroups}
}

// readingClient returns a client of a command that only reads, and a function that closes it. What
// is said of the connection, such as how long an answer is awaited, goes to stderr.
func readingClient(config restclient.Config, command string,
	stderr io.Writer) (client *restclient.Client, end func(), err error) {
	logger := logs.Start(logs.Config{Writer: program.Underlying(stderr), Color: program.WantsColor(stderr)})
	config.UserAgent = "orrery/" + program.Version + " " + command
	config.Credentials = hideFrom(logger, config.Credentials)
	config.Trace = logger.Requests()
	client, err = restclient.New(config)
	if err != nil {
		logger.Stop()
		return nil, nil, err
	}
	return client, func() {
		client.Close()
		logger.Stop()
	}, nil
}
