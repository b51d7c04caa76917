// Step 6 of docs/learn/write-your-own-controller.md: the whole controller, which is package
// virtualmachine, and what runs it. With -die-after the program ends between driver and server.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"orrery/controller"
	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/examples/virtualmachine/steps"
	"orrery/informer"
	"orrery/restclient"
	"orrery/restclient/api"
)

func main() {
	engine := flag.String("vm-driver", "process", "what makes the machines: memory, process, docker or podman")
	stateDir := flag.String("state-dir", "", "where the drivers process and memory remember their servers")
	dieAfter := flag.String("die-after", "", "end the program right after this call of the driver: CreateServer or DeleteServer")
	flag.Parse()
	servers, err := driver.New(*engine, driver.Options{StateDir: *stateDir})
	if err != nil {
		log.Fatal(err)
	}
	client := steps.Connect()
	defer client.Close()
	machines := restclient.Typed[*virtualmachine.VirtualMachine](client, virtualmachine.Resource, "")
	cache := informer.NewSharedIndexInformer(machines, steps.Verbose[*virtualmachine.VirtualMachine]("virtualmachines"))
	controller, err := virtualmachine.NewController(virtualmachine.Config{
		Machines: cache, Client: machines, Driver: mortal{servers, *dieAfter},
		Worker: controller.PoolConfig{Trace: &controller.PoolTrace{
			PassDone: func(key string, _ time.Duration, _ int, _ time.Duration, err error) {
				if err != nil {
					log.Println(key, "failed:", err)
				}
			},
		}},
		Trace: &virtualmachine.Trace{
			PhaseChanged: func(vm *virtualmachine.VirtualMachine, _ virtualmachine.VirtualMachinePhase) {
				fmt.Printf("%s/%s is %s\n", vm.Namespace, vm.Name, vm.Status.Phase)
			},
			Event: func(vm *virtualmachine.VirtualMachine, kind api.EventType, reason, message string) {
				fmt.Printf("%s/%s %s %s: %s\n", vm.Namespace, vm.Name, kind, reason, message)
			},
			DriverWorks: func(err error) {
				if err != nil {
					log.Println(err)
				}
			},
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	informers, end := context.WithCancel(context.Background())
	var informing sync.WaitGroup
	informing.Go(func() { cache.Run(informers) })
	controller.RunWithin(ctx, informers)
	end() // the informer ends after the controller, which reads its store to the end
	informing.Wait()
}

// mortal is a driver that ends the program after one kind of call, before the controller gets the
// result, as if it was killed.
type mortal struct {
	driver.Interface
	after string
}

func (m mortal) CreateServer(ctx context.Context, request driver.CreateRequest) error {
	err := m.Interface.CreateServer(ctx, request)
	m.die("CreateServer")
	return err
}

func (m mortal) DeleteServer(ctx context.Context, name string) error {
	err := m.Interface.DeleteServer(ctx, name)
	m.die("DeleteServer")
	return err
}

func (m mortal) die(call string) {
	if call == m.after {
		fmt.Println("killed after", call)
		os.Exit(137) // as a shell reports SIGKILL
	}
}
