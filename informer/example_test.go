package informer_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/informertest"
	"orrery/queue"
	"orrery/restclient/api"
)

// The skeleton of every controller: handlers put keys into a work queue; a worker takes them and
// compares the store with the desired state.
func Example() {
	server := informertest.NewNamespaceSource() // in a program: restclient.Typed[*api.Namespace](client, ...)
	server.Add(informertest.Namespace("shop", "team", "red"))

	namespaces := informer.NewSharedIndexInformer(server, informer.Config[*api.Namespace]{Name: "namespaces"})
	lister := informer.NewLister(namespaces.GetIndexer(), "namespaces")
	work := queue.New(queue.Config[string]{})
	registration, err := namespaces.AddEventHandler(informer.ResourceEventHandlerFuncs[*api.Namespace]{
		AddFunc:    func(ns *api.Namespace, _ bool) { work.Add(ns.Name) },
		UpdateFunc: func(_, ns *api.Namespace) { work.Add(ns.Name) },
		DeleteFunc: func(d informer.DeletedObject[*api.Namespace]) { work.Add(d.Key) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { _ = namespaces.Run(ctx) })
	if err := informer.WaitForSync(ctx, namespaces, registration); err != nil {
		fmt.Println(err)
		return
	}

	reconcile := func() {
		key, _ := work.Get()
		defer work.Done(key)
		ns, err := lister.Get(key)
		if api.IsNotFound(err) {
			fmt.Println(key, "is gone")
			return
		}
		fmt.Println(key, "belongs to team", ns.Labels["team"])
	}
	reconcile()
	server.Modify(informertest.Namespace("shop", "team", "blue"))
	reconcile()
	server.Delete("shop")
	reconcile()

	stop()
	running.Wait() // no callback is running any more
	work.ShutDown()
	// Output:
	// shop belongs to team red
	// shop belongs to team blue
	// shop is gone
}

// run starts an informer and returns the function that stops it and waits for it.
func run[T informer.Object](inf *informer.SharedIndexInformer[T]) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = inf.Run(ctx)
	}()
	<-inf.Synced()
	return func() {
		cancel()
		<-done
	}
}

// A handler may be added at any time. It receives the content of the store, and then the events.
func ExampleSharedIndexInformer_AddEventHandler() {
	server := informertest.NewNamespaceSource()
	server.Add(informertest.Namespace("shop"))
	namespaces := informer.NewSharedIndexInformer(server, informer.Config[*api.Namespace]{})
	defer run(namespaces)()

	reported := make(chan string)
	late, err := namespaces.AddEventHandler(informer.ResourceEventHandlerFuncs[*api.Namespace]{
		AddFunc: func(ns *api.Namespace, initial bool) {
			reported <- fmt.Sprintf("%s is there (initial: %t)", ns.Name, initial)
		},
		DeleteFunc: func(d informer.DeletedObject[*api.Namespace]) { reported <- d.Key + " is gone" },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-reported)
	<-late.Synced()
	server.Add(informertest.Namespace("office"))
	fmt.Println(<-reported)
	server.Delete("shop")
	fmt.Println(<-reported)

	if err := namespaces.RemoveEventHandler(late); err != nil {
		fmt.Println(err)
		return
	}
	<-late.Ended()
	close(reported) // there are no more senders
	// Output:
	// shop is there (initial: true)
	// office is there (initial: false)
	// shop is gone
}

// Two controllers ask a factory for the same collection and share one informer, one watch and one
// store.
func ExampleInformerFor() {
	server := informertest.NewNamespaceSource()
	factory := &informer.SharedInformerFactory{}
	defer factory.Shutdown()
	makeInformer := func(resync time.Duration) *informer.SharedIndexInformer[*api.Namespace] {
		return informer.NewSharedIndexInformer(server, informer.Config[*api.Namespace]{ResyncPeriod: resync})
	}
	first := informer.InformerFor(factory, "namespaces", makeInformer)
	second := informer.InformerFor(factory, "namespaces", makeInformer)
	fmt.Println("the same informer:", first == second)

	ctx := context.Background()
	if err := factory.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	if err := factory.WaitForCacheSync(ctx); err != nil {
		fmt.Println(err)
		return
	}
	lists := 0
	for _, request := range server.Requests() {
		if request.Verb == "list" {
			lists++
		}
	}
	fmt.Println("lists:", lists)
	// Output:
	// the same informer: true
	// lists: 1
}

// A lister reads the store of an informer instead of asking the server.
func ExampleLister() {
	server := informertest.NewNamespaceSource()
	server.Add(informertest.Namespace("shop", "team", "red"))
	server.Add(informertest.Namespace("office", "team", "blue"))
	namespaces := informer.NewSharedIndexInformer(server, informer.Config[*api.Namespace]{
		Indexers: indexer.Indexers[*api.Namespace]{informer.NamespaceIndex: informer.MetaNamespaceIndexFunc[*api.Namespace]},
	})
	defer run(namespaces)()

	lister := informer.NewLister(namespaces.GetIndexer(), "namespaces")
	for _, ns := range lister.ListFunc(func(ns *api.Namespace) bool { return ns.Labels["team"] == "red" }) {
		fmt.Println(ns.Name)
	}
	_, err := lister.Get("attic")
	fmt.Println(err)
	// Output:
	// shop
	// namespaces "attic" not found
}
