// Step 4 of docs/learn/write-your-own-controller.md: the controller creates machines. It does not
// delete them: they become zombies.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/examples/virtualmachine/steps"
	"orrery/informer"
	"orrery/restclient"
	"orrery/restclient/api"
)

type controller struct {
	machines *restclient.Resource[*virtualmachine.VirtualMachine]
	queue    *steps.Queue
	driver   driver.Interface
}

func main() {
	stateDir := flag.String("state-dir", "",
		"where servers.json is, with the machines; without it they end with the program")
	flag.Parse()
	servers, err := driver.NewMemory(*stateDir)
	if err != nil {
		log.Fatal(err)
	}
	client := steps.Connect()
	defer client.Close()
	machines := restclient.Typed[*virtualmachine.VirtualMachine](client, virtualmachine.Resource, "")
	c := &controller{
		machines: machines,
		queue:    steps.NewQueue(machines, specChanged),
		driver:   servers,
	}
	c.queue.Run(c.syncHandler)
}

// specChanged reports whether an update asks for a pass.
func specChanged(old, vm *virtualmachine.VirtualMachine) bool {
	return old.Generation != vm.Generation // not only the status, which we write ourselves
}

func (c *controller) syncHandler(ctx context.Context, key string) error {
	namespace, name, err := informer.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	shared, err := c.queue.Lister.ByNamespace(namespace).Get(name)
	if err != nil || shared.Status.Phase == virtualmachine.VirtualMachineActive {
		return nil
	}
	return c.createServer(ctx, shared.DeepCopy()) // objects of the store are shared and must not be changed
}

func (c *controller) createServer(ctx context.Context, vm *virtualmachine.VirtualMachine) error {
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
	vm.Status.Phase = virtualmachine.VirtualMachineActive
	_, err = c.machines.UpdateStatus(ctx, vm, api.UpdateOptions{})
	return err
}
