// Step 5 of docs/learn/write-your-own-controller.md: a finalizer, so that the machine is deleted
// before the object goes. With -finalizer-last it is written in the article's order, and -die ends
// the program between the two writes.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/examples/virtualmachine/steps"
	"orrery/informer"
	"orrery/restclient"
	"orrery/restclient/api"
)

const finalizerName = "finalizer.cloudnative.tw"

type controller struct {
	machines *restclient.Resource[*virtualmachine.VirtualMachine]
	queue    *steps.Queue
	driver   driver.Interface

	finalizerLast, die bool
}

func main() {
	stateDir := flag.String("state-dir", "",
		"where servers.json is, with the machines; without it they end with the program")
	finalizerLast := flag.Bool("finalizer-last", false,
		"write the finalizer after the machine was created, as the article does")
	die := flag.Bool("die", false, "end between the finalizer and the machine, whichever comes first")
	flag.Parse()
	servers, err := driver.NewMemory(*stateDir)
	if err != nil {
		log.Fatal(err)
	}
	client := steps.Connect()
	defer client.Close()
	machines := restclient.Typed[*virtualmachine.VirtualMachine](client, virtualmachine.Resource, "")
	specChanged := func(old, vm *virtualmachine.VirtualMachine) bool { return old.Generation != vm.Generation }
	c := &controller{
		machines: machines, queue: steps.NewQueue(machines, specChanged), driver: servers,
		finalizerLast: *finalizerLast, die: *die,
	}
	c.queue.Run(c.syncHandler)
}

func (c *controller) syncHandler(ctx context.Context, key string) error {
	namespace, name, err := informer.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	shared, err := c.queue.Lister.ByNamespace(namespace).Get(name)
	if err != nil {
		return nil
	}
	vm := shared.DeepCopy() // objects of the store are shared and must not be changed
	switch {
	case vm.DeletionTimestamp != nil:
		return c.deleteServer(ctx, vm)
	case vm.Status.Phase != virtualmachine.VirtualMachineActive:
		return c.createServer(ctx, vm)
	}
	return nil
}

func (c *controller) createServer(ctx context.Context, vm *virtualmachine.VirtualMachine) error {
	steps := []func(context.Context, *virtualmachine.VirtualMachine) error{c.addFinalizer, c.ensureServer}
	if c.finalizerLast {
		slices.Reverse(steps)
	}
	if err := steps[0](ctx, vm); err != nil {
		return err
	}
	if c.die {
		fmt.Println("dying")
		os.Exit(2)
	}
	if err := steps[1](ctx, vm); err != nil {
		return err
	}
	vm.Status.Phase = virtualmachine.VirtualMachineActive
	_, err := c.machines.UpdateStatus(ctx, vm, api.UpdateOptions{})
	return err
}

func (c *controller) addFinalizer(ctx context.Context, vm *virtualmachine.VirtualMachine) error {
	if slices.Contains(vm.Finalizers, finalizerName) {
		return nil
	}
	vm.Finalizers = append(vm.Finalizers, finalizerName)
	stored, err := c.machines.Update(ctx, vm, api.UpdateOptions{})
	if err != nil {
		return err
	}
	*vm = *stored
	return nil
}

func (c *controller) ensureServer(ctx context.Context, vm *virtualmachine.VirtualMachine) error {
	cpu, err := vm.Spec.Resource.CPU.In(0.001)
	if err != nil {
		return err
	}
	memory, err := vm.Spec.Resource.Memory.In(1)
	if err != nil {
		return err
	}
	server := vm.Name + "-" + vm.UID
	if err := c.driver.CreateServer(ctx, driver.CreateRequest{Name: server, CPU: cpu, Memory: memory}); err != nil {
		return err
	}
	fmt.Println("created", server)
	return nil
}

func (c *controller) deleteServer(ctx context.Context, vm *virtualmachine.VirtualMachine) error {
	if !slices.Contains(vm.Finalizers, finalizerName) {
		return nil
	}
	server := vm.Name + "-" + vm.UID
	if err := c.driver.DeleteServer(ctx, server); err != nil {
		return err // the finalizer stays, and so does the object
	}
	fmt.Println("deleted", server)
	vm.Finalizers = slices.DeleteFunc(vm.Finalizers, func(name string) bool { return name == finalizerName })
	_, err := c.machines.Update(ctx, vm, api.UpdateOptions{})
	return err
}
