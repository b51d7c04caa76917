package machine_test

import (
	"context"
	"fmt"
	"time"

	"orrery/informer/informertest"
	"orrery/informer/reflector"
	"orrery/informer/reflector/machine"
	"orrery/restclient/api"
)

// printer is a store that prints its calls.
type printer struct{ done chan struct{} }

func (p printer) Add(ns *api.Namespace) error    { return p.say("add", ns) }
func (p printer) Update(ns *api.Namespace) error { return p.say("update", ns) }
func (p printer) Delete(ns *api.Namespace) error {
	defer close(p.done)
	return p.say("delete", ns)
}

func (p printer) Replace(items []*api.Namespace, rv string) error {
	fmt.Printf("the whole state at version %s:\n", rv)
	for _, ns := range items {
		_ = p.say("have", ns)
	}
	return nil
}

func (p printer) Resync() error { return nil }

func (p printer) say(what string, ns *api.Namespace) error {
	fmt.Println(" ", what, ns.Name, "at", ns.ResourceVersion)
	return nil
}

// A Reflector keeps a store equal to a collection. This one is in memory; one on an API server is a
// restclient.Resource.
func Example() {
	source := informertest.NewNamespaceSource()
	source.Add(informertest.Namespace("default"))
	source.Add(informertest.Namespace("kube-system"))

	store := printer{done: make(chan struct{})}
	watching := make(chan struct{}, 1)
	r := machine.New(reflector.Config[*api.Namespace]{
		Name:          "namespaces",
		ListerWatcher: source,
		Store:         store,
		Trace: &reflector.Trace{
			WatchStarted: func(opts api.ListOptions) {
				fmt.Println("watching from version", opts.ResourceVersion)
				watching <- struct{}{}
			},
			Expired: func(rv string, _ error) { fmt.Println("version", rv, "is no longer in the history") },
		},
		Backoff: reflector.BackoffConfig{Initial: time.Millisecond},
	})
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		r.Run(ctx)
	}()

	<-watching
	source.Add(informertest.Namespace("demo"))
	source.SendError(informertest.Expired("too old resource version"))
	<-watching
	source.Delete("demo")
	<-store.done

	cancel()
	<-stopped
	fmt.Println("stopped at version", r.LastSyncResourceVersion())
	// Output:
	// the whole state at version 3:
	//   have default at 2
	//   have kube-system at 3
	// watching from version 3
	//   add demo at 4
	// version 4 is no longer in the history
	// the whole state at version 4:
	//   have default at 2
	//   have demo at 4
	//   have kube-system at 3
	// watching from version 4
	//   delete demo at 5
	// stopped at version 5
}
