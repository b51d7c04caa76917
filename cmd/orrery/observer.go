package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strconv"
	"sync/atomic"

	"github.com/spf13/pflag"

	"orrery/internal/app/program"
	"orrery/internal/observe/logs"
	"orrery/internal/observe/metrics"
	"orrery/internal/observe/trace"
	"orrery/internal/observe/web"
)

// observer serves metrics, health and the state of every gear. With --metrics-port 0 it has no
// server, and nobody reads its metrics.
type observer struct {
	metrics *metrics.Metrics
	server  *web.DebugServer

	announce func() // logs the address, or the error
	ending   atomic.Bool
	filled   atomic.Pointer[func() error] // nil until there are informers
}

// heapSample is after how many bytes the heap profile takes a sample by default.
var heapSample = runtime.MemProfileRate

// startObserver starts to serve. The caller must call stop.
func startObserver(options observerOptions, logger *logs.Logger) (*observer, error) {
	o := &observer{metrics: metrics.New(program.Version), announce: func() {}}
	if options.port == 0 {
		return o, nil
	}
	if options.profiling {
		runtime.MemProfileRate = heapSample
	}
	server, err := web.StartDebug(web.DebugConfig{
		Address:   net.JoinHostPort(options.address, strconv.Itoa(options.port)),
		Metrics:   o.metrics.Handler(),
		Profiling: options.profiling,
	})
	if err != nil && options.explicit() {
		return nil, fmt.Errorf("%w; choose another --metrics-port or --bind-address, or --metrics-port 0 to serve "+
			"nothing", err)
	}
	if err != nil {
		o.announce = func() {
			logger.Warn().Err(err).Msg("metrics and health are not served, set --metrics-port to serve them")
		}
		return o, nil
	}
	o.server = server
	server.Show("program", func() any { return program.CurrentVersion() })
	o.metrics.LostLines(logger.Dropped)
	server.Ready("informer-sync", o.synced)
	server.Ready("shutdown", o.goesOn)
	o.announce = func() {
		logger.Info().Str("address", server.Addr()).Bool("profiling", options.profiling).
			Msg("metrics and health are served")
	}
	return o, nil
}

func (o *observer) stop() {
	if o.server != nil {
		o.server.Stop()
	}
}

// stopping makes the process not ready, because it is being stopped.
func (o *observer) stopping() { o.ending.Store(true) }

func (o *observer) goesOn() error {
	if o.ending.Load() {
		return errors.New("the process is stopping")
	}
	return nil
}

// synced is the check of /readyz for filled stores, which a standby passes as well.
func (o *observer) synced() error {
	if check := o.filled.Load(); check != nil {
		return (*check)()
	}
	return errors.New("no informer has been started yet")
}

// observerOptions are the flags of the debug server.
type observerOptions struct {
	address   string
	port      int
	profiling bool

	flags *pflag.FlagSet
}

// defaultMetricsPort is the port of the debug server.
const defaultMetricsPort = 8081

func (o *observerOptions) addTo(flags *pflag.FlagSet) {
	o.flags = flags
	flags.StringVar(&o.address, "bind-address", "127.0.0.1",
		"the `address` on which metrics, health and the state of every gear are served; every client that can "+
			"reach it can read the names of namespaces")
	flags.IntVar(&o.port, "metrics-port", defaultMetricsPort,
		"the `port` of /metrics, /livez, /readyz and /debug/orrery; 0: none")
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

// explicit reports whether the user chose the address or port. Only then is a used port an error:
// otherwise a second process on the same machine could not start because of a port that it does not
// need.
func (o *observerOptions) explicit() bool {
	return o.flags.Changed("bind-address") || o.flags.Changed("metrics-port")
}

// startRecorder starts to record what the gears do, for the flags --record and --view; nil
// without them. stop must be called.
func startRecorder(options *runOptions, logger *logs.Logger,
	stdout io.Writer) (recorder *trace.Recorder, stop func(), err error) {
	if !options.view && !options.record.Wanted() {
		return nil, func() {}, nil
	}
	recorder, err = trace.Start(options.record.Config(trace.Header{
		Run: "orrery run", Mode: "cluster", Gears: options.gears.String(), Build: program.Version,
		Workers: options.each.Workers,
	}))
	if err != nil {
		return nil, nil, fmt.Errorf("cannot record: %w", err)
	}
	closeView := func() {}
	if options.view {
		page, err := options.page.Start(web.ViewConfig{Source: recorder}, stdout)
		if err != nil {
			recorder.Stop(err.Error())
			return nil, nil, err
		}
		closeView = page.Stop
	}
	return recorder, func() {
		recorder.Stop("the process has stopped")
		closeView()
		if err := recorder.Err(); err != nil {
			logger.Warn().Err(err).Msg("the recording is incomplete")
		}
	}, nil
}
