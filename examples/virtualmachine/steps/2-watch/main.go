// Step 2 of docs/learn/write-your-own-controller.md: an informer, which keeps a copy of the
// machines and says what changes.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/steps"
	"orrery/informer"
	"orrery/restclient"
)

func main() {
	client := steps.Connect()
	defer client.Close()
	machines := restclient.Typed[*virtualmachine.VirtualMachine](client, virtualmachine.Resource, "")

	cache := informer.NewSharedIndexInformer(machines, steps.Verbose[*virtualmachine.VirtualMachine]("virtualmachines"))
	_, err := cache.AddEventHandler(informer.ResourceEventHandlerFuncs[*virtualmachine.VirtualMachine]{
		AddFunc: func(vm *virtualmachine.VirtualMachine, _ bool) {
			fmt.Printf("added %s/%s\n", vm.Namespace, vm.Name)
		},
		UpdateFunc: func(old, vm *virtualmachine.VirtualMachine) {
			fmt.Printf("updated %s/%s: version %s became %s\n", vm.Namespace, vm.Name, old.ResourceVersion,
				vm.ResourceVersion)
		},
		DeleteFunc: func(deleted informer.DeletedObject[*virtualmachine.VirtualMachine]) {
			fmt.Printf("deleted %s\n", deleted.Key)
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := cache.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
