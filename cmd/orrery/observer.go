package main

import (
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"

	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/logs"
	"orrery/nsctl"
	"orrery/queue"
	"orrery/restclient"
)

// observerOptions are the flags that say where the process can be looked into.
type observerOptions struct {
	address   string
	port      int
	profiling bool
}

// defaultMetricsPort is where the process can be looked into unless it is told otherwise.
const defaultMetricsPort = 8081

func (o *observerOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.address, "bind-address", "127.0.0.1", "the `address` on which metrics, health and the state of every gear are served; whoever reaches it learns the names of namespaces")
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

// observer is what shows the process to the outside: metrics, health and the state of every gear.
type observer struct{}

// startObserver starts to serve. Whoever calls it calls stop.
func startObserver(observerOptions, *logs.Logger) (*observer, error) { return &observer{}, nil }

func (o *observer) stop() {}

// The hooks and metrics that make the observer see. Each may be nil.

func (o *observer) requests() *restclient.Trace         { return nil }
func (o *observer) reflector(string) *reflector.Trace   { return nil }
func (o *observer) informer() *informer.Trace           { return nil }
func (o *observer) queue(string) *queue.Trace[string]   { return nil }
func (o *observer) queueMetrics() queue.MetricsProvider { return nil }
func (o *observer) namespaces() *nsctl.Trace            { return nil }

// show makes /debug/orrery show what the function returns, which may be called from any goroutine, under this name.
func (o *observer) show(name string, snapshot func() any) {}

// leading says whether this process leads the election of that name.
func (o *observer) leading(name string, yes bool) {}

// slowPath counts a renewal of the Lease that had to read it first.
func (o *observer) slowPath(name string) {}

// healthy adds a check to /livez: if it fails the process is restarted, so it must not depend on anything but the process.
func (o *observer) healthy(name string, check func() error) {}

// ready adds a check to /readyz.
func (o *observer) ready(name string, check func() error) {}
