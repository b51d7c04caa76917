package main

import (
	"context"
	"net"
	"net/http"
	"time"

	"orrery/internal/controllers/all"
	"orrery/internal/leaderelection"
	"orrery/internal/observe/logs"
	"orrery/internal/program"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/restclient/kubeconfig"
)

// connect reads the configuration and makes the client, whose connections are behind the fence. It does not send anything
// yet.
func connect(options *runOptions, logger *logs.Logger, observer *observer, fence *leaderelection.Fence) (*restclient.Client, error) {
	config, info, err := kubeconfig.Load(kubeconfig.Options{Path: options.kubeconfig, Context: options.context, Changed: logger.KubeconfigChanged})
	if err != nil {
		return nil, err
	}
	for _, warning := range info.Warnings {
		if warning.Kind == kubeconfig.WarningInsecure {
			continue // the client says so as well
		}
		logger.Warn().Str("warning", warning.Text).Msg("kubeconfig")
	}
	config.QPS, config.Burst = options.qps, options.burst
	config.WatchTransport = restclient.WatchTransport(options.watchTransport)
	config.MaxRetryAfter = longestRetryAfter
	config.Codec = options.gears.Codec()
	config.UserAgent = "orrery/" + program.Version
	config.Credentials = hideFrom(logger, config.Credentials)
	config.Trace = restclient.JoinTraces(logger.Requests(), observer.requests(config.Host))
	if options.electing() {
		config.Dial = fence.Dial(dialer.DialContext)
	}
	return restclient.New(config)
}

// dialer is what restclient dials with by default.
var dialer = net.Dialer{
	Timeout:         30 * time.Second,
	KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 5 * time.Second, Count: 3},
}

// longestRetryAfter is how long a worker waits at most when a server asks for patience. If more is asked the pass fails,
// and the worker goes on with other namespaces: one aggregated API that is down must not hold up all of them.
const longestRetryAfter = 10 * time.Second

// firstAnswer bounds the requests that are made before anything is started: a server that does not answer is
// reported, not waited for.
const firstAnswer = 30 * time.Second

// greet makes sure that the server answers, and that we may list and watch namespaces if that is what a controller does.
func greet(ctx context.Context, client *restclient.Client, options *runOptions, logger *logs.Logger) error {
	if err := logIn(ctx, client.Config(), logger); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, firstAnswer)
	defer cancel()
	serverVersion, err := discovery.New(client).ServerVersion(ctx)
	if err != nil {
		return &startError{doing: "reaching the API server", server: client.Config().Host, err: err}
	}
	logger.Info().Str("server", client.Config().Host).Str("version", serverVersion.GitVersion).Stringer("gears", options.gears).Msg("connected")
	if !options.chose(all.NamespaceController) {
		return nil
	}
	return mayWatch(ctx, client)
}

// loginNotice is after how long a login deserves a line: people who see nothing think that nothing happens.
const loginNotice = 3 * time.Second

// logIn obtains the credentials before the first request, and without its time limit: an exec plugin may have a user
// type a code into a browser.
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
		err = &restclient.TransportError{Kind: restclient.CredentialsFailed, Verb: http.MethodGet, URL: config.Host, Err: err}
		return &startError{doing: "logging in", server: config.Host, err: err}
	}
	return nil
}

// mayWatch finds out whether this user may do what an informer of namespaces does. Other failures than a refusal of the
// watch are left to the informer, which repeats it.
func mayWatch(ctx context.Context, client *restclient.Client) error {
	namespaces := restclient.Metadata(client, api.NamespacesResource, "")
	list, err := namespaces.List(ctx, api.ListOptions{Limit: 1})
	if api.IsNotFound(err) {
		return nil // the controller is going to be skipped
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

// hidden are credentials whose secrets the log learns, so that it never shows them: not even where a server has put them
// into an answer that looks harmless.
type hidden struct {
	restclient.Credentials
	logger *logs.Logger
}

// hideFrom makes credentials hidden; none stay none.
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
