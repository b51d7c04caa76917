// Step 6 of docs/learn/write-your-own-controller.md: the whole controller, which is package
// virtualmachine, as a program. With -die-after it ends between driver and server.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"orrery/controller"
	"orrery/controller/events"
	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/restclient/api"
)

const name = "virtualmachine"

var (
	stateDir = flag.String("state-dir", "",
		"where servers.json is, with the machines; without it they end with the program")
	dieAfter = flag.String("die-after", "",
		"end the program right after this call of the driver: CreateServer or DeleteServer")
)

func main() { controller.Main(setUp) }

func setUp(m *controller.Manager) error {
	if !slices.Contains([]string{"", "CreateServer", "DeleteServer"}, *dieAfter) {
		return fmt.Errorf("-die-after is CreateServer or DeleteServer, not %q", *dieAfter)
	}
	machines := controller.Watch[*virtualmachine.VirtualMachine](m, virtualmachine.Resource, "")
	m.Allow(virtualmachine.Resource, "", "Write the finalizer.", "update")
	m.Allow(virtualmachine.Resource, "status", "Write the state of a machine.", "update")
	m.Allow(api.EventsResource, "", "Record Events; a repetition is a patch.", "create", "patch")
	m.Add(func() (func(stop, alive context.Context), error) { return build(m, machines) })
	return nil
}

// build returns the controller, which Manager.Run runs. lastEvents is how long it waits at the end
// for the Events that are not recorded yet.
func build(m *controller.Manager, machines *controller.Collection[*virtualmachine.VirtualMachine]) (
	run func(stop, alive context.Context), err error,
) {
	servers, err := driver.NewMemory(*stateDir)
	if err != nil {
		return nil, err
	}
	const lastEvents = 2 * time.Second
	recorder := events.Start(events.Config{
		Client: m.Config().Client, Component: name, Trace: &events.Trace{Dropped: notRecorded},
	})
	c, err := virtualmachine.NewController(virtualmachine.Config{
		Machines: machines.Informer(), Client: machines.Server(""), Driver: driver.Around(servers, mortal),
		Worker: m.PoolConfig(name), Trace: trace(recorder),
	})
	if err != nil {
		return nil, err
	}
	return func(stop, alive context.Context) {
		defer recorder.Stop(lastEvents)
		c.RunWithin(stop, alive)
	}, nil
}

// trace prints what happens, and records it as Events.
func trace(recorder events.EventRecorder) *virtualmachine.Trace {
	ctx := context.Background() // an Event outlives its pass
	return &virtualmachine.Trace{
		PhaseChanged: func(vm *virtualmachine.VirtualMachine, _ virtualmachine.VirtualMachinePhase) {
			fmt.Printf("%s/%s is %s\n", vm.Namespace, vm.Name, vm.Status.Phase)
		},
		Event: func(vm *virtualmachine.VirtualMachine, kind api.EventType, reason, message string) {
			fmt.Printf("%s/%s %s %s: %s\n", vm.Namespace, vm.Name, kind, reason, message)
			object := vm.Reference(virtualmachine.Kind, virtualmachine.Resource.GroupVersion().String())
			recorder.Event(ctx, object, kind, reason, message)
		},
	}
}

// notRecorded prints an Event that the server does not get.
func notRecorded(_ context.Context, event *api.Event, why events.Drop, err error) {
	fmt.Printf("not recorded, %s: %s: %v\n", why, event.Message, err)
}

// mortal makes a call of the driver. It ends the program after one kind of call, before the
// controller gets the result, as if it was killed.
func mortal(ctx context.Context, name, _ string, call func(context.Context) error) error {
	err := call(ctx)
	if name == *dieAfter {
		fmt.Println("killed after", name)
		os.Exit(137) // as a shell reports SIGKILL
	}
	return err
}
