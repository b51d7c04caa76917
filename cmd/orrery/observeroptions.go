package main

import (
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"
)

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

// explicit tells whether somebody has asked for this place. Nobody is told no who did not ask: a second process on the
// same machine would not start, for a port that it does not need.
func (o *observerOptions) explicit() bool {
	return o.flags.Changed("bind-address") || o.flags.Changed("metrics-port")
}
