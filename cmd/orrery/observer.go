package main

import (
	"github.com/spf13/pflag"

	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/logs"
	"orrery/nsctl"
	"orrery/queue"
	"orrery/restclient"
)

// observerOptions are the flags that say where the process can be looked into.
type observerOptions struct{}

func (o *observerOptions) addTo(*pflag.FlagSet) {}

func (o *observerOptions) check() error { return nil }

// observer is what shows the process to the outside: metrics, health and the state of every gear.
type observer struct{}

// startObserver starts to serve. Whoever calls it calls stop.
func startObserver(observerOptions, *logs.Logger) (*observer, error) { return &observer{}, nil }

func (o *observer) stop() {}

// The hooks and metrics that make the observer see. Each may be nil.

func (o *observer) requests() *restclient.Trace           { return nil }
func (o *observer) reflector(string) *reflector.Trace     { return nil }
func (o *observer) informer() *informer.Trace             { return nil }
func (o *observer) queue(string) *queue.Trace[string]     { return nil }
func (o *observer) queueMetrics() queue.MetricsProvider   { return nil }
func (o *observer) namespaces() *nsctl.Trace              { return nil }
func (o *observer) show(name string, snapshot func() any) {}
