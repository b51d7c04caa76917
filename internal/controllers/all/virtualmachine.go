package all

import (
	"cmp"
	"context"
	"time"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/internal/controllers"
	"orrery/internal/rbac"
	"orrery/restclient"
	"orrery/restclient/api"
)

// VirtualMachineOptions are those of the controller of virtual machines.
type VirtualMachineOptions struct {
	// Driver is the name of the driver, one of driver.Names. Default: memory.
	Driver string
	// Use is a driver to use in place of one with a name.
	Use     driver.Interface
	Workers int
}

func virtualMachine(options VirtualMachineOptions) controllers.Descriptor {
	return controllers.Descriptor{
		Name: "virtualmachine", Alias: "vm", About: "makes the machines that VirtualMachine objects ask for",
		OnDemand: true, EventsEverywhere: true,
		Needs: []api.GroupVersionResource{virtualmachine.Resource},
		Rights: func(bool) []rbac.Right {
			return []rbac.Right{
				right(virtualmachine.Resource, "", "Virtual machines are watched, and written for their finalizer.", "list", "watch", "update"),
				right(virtualmachine.Resource, "status", "What became of a machine.", "update"),
			}
		},
		New: func(c controllers.ControllerContext) (controllers.Controller, error) {
			return startVirtualMachine(c, options)
		},
	}
}

func startVirtualMachine(c controllers.ControllerContext, options VirtualMachineOptions) (controllers.Controller, error) {
	machines := options.Use
	if machines == nil {
		var err error
		if machines, err = driver.New(cmp.Or(options.Driver, "memory"), driver.Options{}); err != nil {
			return nil, err
		}
	}
	passes, recorder := c.PassTrace(), c.Recorder()
	controller, err := virtualmachine.NewController(virtualmachine.Config{
		Machines: controllers.InformerFor(c, virtualmachine.Resource, func(vm *virtualmachine.VirtualMachine) *api.ObjectMeta { return &vm.ObjectMeta }),
		Client:   restclient.Typed[*virtualmachine.VirtualMachine](c.Client, virtualmachine.Resource, ""),
		Driver:   machines, Workers: options.Workers,
		NewQueue: c.Gears.NewQueue, QueueTrace: c.QueueTrace("virtualmachine"), QueueMetrics: c.QueueMetrics(),
		Trace: &virtualmachine.Trace{
			PassDone: func(key string, took time.Duration, failures int, err error) {
				passes.PassDone(key, took, failures, 0, err)
			},
			Event: func(vm *virtualmachine.VirtualMachine, kind api.EventType, reason, message string) {
				recorder.Event(context.Background(), about(virtualmachine.Kind, "cloudnative.tw/v1alpha1", &vm.ObjectMeta), kind, reason, message)
			},
		},
	})
	if err != nil {
		return nil, err
	}
	c.Show("controller/"+c.Name, func() any { return controller.Snapshot() })
	return controller, nil
}
