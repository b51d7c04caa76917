// Step 6 of docs/learn/write-your-own-controller.md: the whole controller, which is package
// virtualmachine, and what runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/informer"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/kubeconfig"
)

func main() {
	engine := flag.String("vm-driver", "process", "what makes the machines: memory, process, docker or podman")
	stateDir := flag.String("state-dir", "", "where the driver process remembers its processes")
	flag.Parse()
	config, _, err := kubeconfig.Load(kubeconfig.Options{})
	if err != nil {
		log.Fatal(err)
	}
	client, err := restclient.New(config)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	servers, err := driver.New(*engine, driver.Options{StateDir: *stateDir})
	if err != nil {
		log.Fatal(err)
	}
	machines := restclient.Typed[*virtualmachine.VirtualMachine](client, virtualmachine.Resource, "")
	cache := informer.NewSharedIndexInformer(machines, informer.Config[*virtualmachine.VirtualMachine]{Name: "virtualmachines"})
	controller, err := virtualmachine.NewController(virtualmachine.Config{
		Machines: cache, Client: machines, Driver: servers,
		Trace: &virtualmachine.Trace{
			PhaseChanged: func(vm *virtualmachine.VirtualMachine, _ virtualmachine.VirtualMachinePhase) {
				fmt.Printf("%s/%s is %s\n", vm.Namespace, vm.Name, vm.Status.Phase)
			},
			Event: func(vm *virtualmachine.VirtualMachine, kind api.EventType, reason, message string) {
				fmt.Printf("%s/%s %s %s: %s\n", vm.Namespace, vm.Name, kind, reason, message)
			},
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	informers, end := context.WithCancel(context.Background())
	var informing sync.WaitGroup
	informing.Go(func() { cache.Run(informers) })
	controller.RunWithin(ctx, informers)
	end() // the informer ends after the controller, which reads its store to the end
	informing.Wait()
}
