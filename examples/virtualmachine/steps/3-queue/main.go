// Step 3 of docs/learn/write-your-own-controller.md: a queue and workers. Events only say which
// machine to look at.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/steps"
	"orrery/informer"
	"orrery/queue"
	"orrery/restclient"
	"orrery/wait"
)

type controller struct {
	lister informer.Lister[*virtualmachine.VirtualMachine]
	queue  queue.RateLimitingInterface[string]
}

func main() {
	client := steps.Connect()
	defer client.Close()
	machines := restclient.Typed[*virtualmachine.VirtualMachine](client, virtualmachine.Resource, "")
	cache := informer.NewSharedIndexInformer(machines, steps.Verbose[*virtualmachine.VirtualMachine]("virtualmachines"))

	c := &controller{
		lister: informer.NewLister(cache.GetIndexer(), "virtualmachines"),
		queue: queue.NewRateLimiting(queue.DefaultControllerRateLimiter[string](),
			queue.Config[string]{Name: "virtualmachine"}),
	}
	_, err := cache.AddEventHandler(informer.ResourceEventHandlerFuncs[*virtualmachine.VirtualMachine]{
		AddFunc:    func(vm *virtualmachine.VirtualMachine, _ bool) { c.enqueue(vm) },
		UpdateFunc: func(_, vm *virtualmachine.VirtualMachine) { c.enqueue(vm) },
		DeleteFunc: func(deleted informer.DeletedObject[*virtualmachine.VirtualMachine]) { c.queue.Add(deleted.Key) },
	})
	if err != nil {
		log.Fatal(err)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	go cache.Run(ctx)
	if !informer.WaitForCacheSync(ctx, cache.HasSynced) {
		return
	}
	var workers wait.Group
	for range 2 {
		workers.Start(func() { wait.Until(c.runWorker, time.Second, ctx.Done()) })
	}
	<-ctx.Done()
	c.queue.ShutDown()
	workers.Wait()
}

func (c *controller) enqueue(vm *virtualmachine.VirtualMachine) {
	key, err := informer.MetaNamespaceKeyFunc(vm)
	if err == nil {
		c.queue.Add(key)
	}
}

func (c *controller) runWorker() {
	for c.processNextWorkItem() {
	}
}

func (c *controller) processNextWorkItem() bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	if err := c.syncHandler(key); err != nil {
		fmt.Println(key, "failed:", err)
		c.queue.AddRateLimited(key)
		return true
	}
	c.queue.Forget(key)
	return true
}

func (c *controller) syncHandler(key string) error {
	namespace, name, err := informer.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	vm, err := c.lister.ByNamespace(namespace).Get(name)
	if err != nil {
		fmt.Printf("%s is gone\n", key)
		return nil
	}
	fmt.Printf("%s is at version %s\n", key, vm.ResourceVersion)
	return nil
}
