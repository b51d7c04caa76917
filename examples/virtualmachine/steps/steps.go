// Package steps is what the programs of docs/learn/write-your-own-controller.md have in common. A
// program of a page should be short, and still say what is missing when a reader has left something
// out. [Connect] finds the server, [Explain] puts an error into one line with the command that
// helps, and [Verbose] makes an informer print why it sees nothing, once for each reason. [Queue]
// has the queue and the workers of step 3, for the steps after it.
package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"sync"
	"time"

	"orrery/examples/virtualmachine"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
	"orrery/wait"
)

// Connect returns a client of the server that kubectl would speak to. Without one it ends the
// program.
func Connect() *restclient.Client {
	config, _, err := kubeconfig.Load(kubeconfig.Options{})
	if err != nil {
		fail(err)
	}
	client, err := restclient.New(config)
	if err != nil {
		fail(err)
	}
	return client
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, Explain(err))
	os.Exit(1)
}

const startServer = "start bin/lab serve and type the line that it prints, export KUBECONFIG=..."

// Explain returns what is missing and what to do about it, in one line.
func Explain(err error) string {
	_, noConfig := errors.AsType[*kubeconfig.NoConfigError](err)
	noFile := errors.Is(err, fs.ErrNotExist)
	_, noServer := errors.AsType[net.Error](err)
	switch {
	case noConfig || noFile:
		return "no server is configured: " + startServer
	case api.IsNotFound(err):
		return "the server does not know virtual machines: kubectl apply -f examples/virtualmachine/crd.yaml"
	case noServer:
		return fmt.Sprintf("the server cannot be reached: %s (%v)", startServer, err)
	}
	return err.Error()
}

// Verbose returns the configuration of an informer that prints why it sees nothing, once for each
// reason. By default an informer retries forever, and prints nothing.
func Verbose[T informer.Object](name string) informer.Config[T] {
	var mu sync.Mutex
	told := ""
	tell := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if text != told && text != "" {
			fmt.Fprintln(os.Stderr, text)
		}
		told = text
	}
	return informer.Config[T]{Name: name, Reflector: reflector.Config[T]{Trace: &reflector.Trace{
		BackOff:      func(_ time.Duration, err error) { tell(Explain(err)) },
		WatchStarted: func(api.ListOptions) { tell("") },
	}}}
}

// Queue is what step 3 has built: an informer, a queue of keys, and workers.
type Queue struct {
	Lister informer.Lister[*virtualmachine.VirtualMachine]

	informer *informer.SharedIndexInformer[*virtualmachine.VirtualMachine]
	queue    queue.RateLimitingInterface[string]
}

// NewQueue returns a queue of the machines that are new, or whose change asks for a pass.
func NewQueue(
	machines *restclient.Resource[*virtualmachine.VirtualMachine],
	asksForPass func(old, vm *virtualmachine.VirtualMachine) bool,
) *Queue {
	cache := informer.NewSharedIndexInformer(machines, Verbose[*virtualmachine.VirtualMachine]("virtualmachines"))
	limiter := queue.DefaultControllerRateLimiter[string]()
	q := &Queue{
		Lister:   informer.NewLister(cache.GetIndexer(), "virtualmachines"),
		informer: cache,
		queue:    queue.NewRateLimiting(limiter, queue.Config[string]{Name: "virtualmachine"}),
	}
	_, err := cache.AddEventHandler(informer.ResourceEventHandlerFuncs[*virtualmachine.VirtualMachine]{
		AddFunc: func(vm *virtualmachine.VirtualMachine, _ bool) { q.enqueue(vm) },
		UpdateFunc: func(old, vm *virtualmachine.VirtualMachine) {
			if asksForPass(old, vm) {
				q.enqueue(vm)
			}
		},
	})
	if err != nil {
		fail(err)
	}
	return q
}

func (q *Queue) enqueue(vm *virtualmachine.VirtualMachine) {
	if key, err := informer.MetaNamespaceKeyFunc(vm); err == nil {
		q.queue.Add(key)
	}
}

// Run calls sync for the keys, with two workers, until Ctrl-C. A key that fails is tried again.
func (q *Queue) Run(sync func(ctx context.Context, key string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	go q.informer.Run(ctx)
	if !informer.WaitForCacheSync(ctx, q.informer.HasSynced) {
		return
	}
	var workers wait.Group
	for range 2 {
		workers.Start(func() {
			wait.UntilWithContext(ctx, func(ctx context.Context) {
				for q.processNextWorkItem(ctx, sync) {
				}
			}, time.Second)
		})
	}
	<-ctx.Done()
	q.queue.ShutDown()
	workers.Wait()
}

func (q *Queue) processNextWorkItem(ctx context.Context, sync func(ctx context.Context, key string) error) bool {
	key, shutdown := q.queue.Get()
	if shutdown {
		return false
	}
	defer q.queue.Done(key)
	if err := sync(ctx, key); err != nil {
		fmt.Println(key, "failed:", err)
		q.queue.AddRateLimited(key)
		return true
	}
	q.queue.Forget(key)
	return true
}
