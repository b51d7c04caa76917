package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"

	"github.com/spf13/pflag"

	"orrery/internal/gears"
	"orrery/internal/observe/debugserver"
	"orrery/internal/observe/logs"
	"orrery/internal/observe/metrics"
	"orrery/internal/program"
	"orrery/restclient"
)

// observer is what shows the process to the outside: metrics, health and the state of every gear. If nothing is served it
// has no metrics and no server, and its hooks are nil: then it costs nothing.
type observer struct {
	metrics *metrics.Metrics
	server  *debugserver.Server

	announce func() // says in the log where, or why not
	ending   atomic.Bool
	filled   atomic.Pointer[func() error] // nil until there are informers
}

// startObserver starts to serve. The caller must call stop.
func startObserver(options observerOptions, chosen gears.Set, logger *logs.Logger) (*observer, error) {
	if options.port == 0 {
		return &observer{announce: func() {}}, nil
	}
	o := &observer{metrics: metrics.New(program.Version)}
	server, err := debugserver.Start(debugserver.Config{
		Address:   net.JoinHostPort(options.address, strconv.Itoa(options.port)),
		Title:     fmt.Sprintf("orrery %s, --gears %s", program.Version, chosen),
		Metrics:   o.metrics.WriteText,
		Profiling: options.profiling,
	})
	if err != nil && options.explicit() {
		return nil, &observeError{err}
	}
	if err != nil {
		return &observer{announce: func() {
			logger.Warn().Err(err).Msg("metrics and health are not served, choose a --metrics-port for that")
		}}, nil
	}
	o.server = server
	o.metrics.Dropped("logs", "writer", logger.Dropped)
	server.Ready("informer-sync", o.synced)
	server.Ready("shutdown", o.goesOn)
	o.announce = func() {
		logger.Info().Str("address", server.Addr()).Bool("profiling", options.profiling).Msg("metrics and health are served")
	}
	return o, nil
}

func (o *observer) stop() {
	if o.server != nil {
		o.server.Stop()
	}
}

// observeError is why the process cannot be looked into where it was asked for.
type observeError struct{ err error }

func (e *observeError) Error() string {
	return e.err.Error() + ": choose another --metrics-port or --bind-address, or --metrics-port 0 to serve nothing"
}

func (e *observeError) Unwrap() error { return e.err }

// stopping says that the process has been told to end: it is not ready any more.
func (o *observer) stopping() { o.ending.Store(true) }

func (o *observer) goesOn() error {
	if o.ending.Load() {
		return errors.New("the process is stopping")
	}
	return nil
}

// synced is the check of /readyz that a standby passes as well: the stores are filled.
func (o *observer) synced() error {
	if check := o.filled.Load(); check != nil {
		return (*check)()
	}
	return errors.New("no informer has been started yet")
}

// requests returns the hooks that count requests; nil if nothing is counted.
func (o *observer) requests(server string) *restclient.Trace {
	if o.metrics == nil {
		return nil
	}
	return o.metrics.Requests(server)
}

// show makes /debug/orrery show what the function returns, which may be called from any goroutine, under this name.
func (o *observer) show(name string, snapshot func() any) {
	if o.server != nil {
		o.server.Show(name, snapshot)
	}
}

// leading says whether this process leads the election of that name.
func (o *observer) leading(name string, yes bool) {
	if o.metrics != nil {
		o.metrics.Leading(name, yes)
	}
}

// slowPath counts a renewal of the Lease that had to read it first.
func (o *observer) slowPath(name string) {
	if o.metrics != nil {
		o.metrics.SlowPath(name)
	}
}

// healthy adds a check to /livez: if it fails the process is restarted, so it must not depend on anything but the process.
func (o *observer) healthy(name string, check func() error) {
	if o.server != nil {
		o.server.Live(name, check)
	}
}

// observerOptions are the flags that say where the process can be looked into.
type observerOptions struct {
	address   string
	port      int
	profiling bool

	flags *pflag.FlagSet
}

// defaultMetricsPort is where the process can be looked into unless it is told otherwise.
const defaultMetricsPort = 8081

func (o *observerOptions) addTo(flags *pflag.FlagSet) {
	o.flags = flags
	flags.StringVar(&o.address, "bind-address", "127.0.0.1", "the `address` on which metrics, health and the state of every gear are served; everyone who can reach it can read the names of namespaces")
	flags.IntVar(&o.port, "metrics-port", defaultMetricsPort, "the `port` of /metrics, /livez, /readyz and /debug/orrery; 0: none")
	flags.BoolVar(&o.profiling, "profiling", false, "serve /debug/pprof as well")
}

func (o *observerOptions) check() error {
	switch {
	case net.ParseIP(o.address) == nil:
		return fmt.Errorf("--bind-address must be an IP address, not %q", o.address)
	case o.port < 0 || o.port > 65535:
		return fmt.Errorf("--metrics-port must be between 0 and 65535, not %d", o.port)
	case o.profiling && o.port == 0:
		return errors.New("--profiling needs a --metrics-port to be served on")
	}
	return nil
}

// explicit reports whether the user chose this place. Only then is a port that is in use an error: otherwise a second process on the
// same machine would not start for a port that it does not need.
func (o *observerOptions) explicit() bool {
	return o.flags.Changed("bind-address") || o.flags.Changed("metrics-port")
}
