package machine_test

import (
	"context"
	"testing"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/informer/reflector/machine"
	"orrery/informer/reflector/reflectortest"
	"orrery/restclient/api"
)

func nameOf(ns *api.Namespace) (string, error) { return ns.Name, nil }

// fixture is a Reflector between a fake source and an in-memory store.
type fixture struct {
	source *informertest.FakeSource[*api.Namespace]
	store  *reflectortest.Memory
	config reflector.Config[*api.Namespace]
	*machine.Reflector[*api.Namespace]
}

func newFixture(t testing.TB) *fixture {
	f := &fixture{source: informertest.NewNamespaceSource(), store: reflectortest.NewMemory(t)}
	f.config = reflector.Config[*api.Namespace]{Name: "namespaces", ListerWatcher: f.source, Store: f.store, DisableWatchList: true}
	return f
}

// run starts the Reflector. stop stops it and waits for it.
func (f *fixture) run() (stop func()) {
	f.Reflector = machine.New(f.config)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

func (f *fixture) requests(verb string) []informertest.Request {
	var out []informertest.Request
	for _, r := range f.source.Requests() {
		if r.Verb == verb {
			out = append(out, r)
		}
	}
	return out
}
