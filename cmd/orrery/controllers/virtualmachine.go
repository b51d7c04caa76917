package controllers

import (
	"cmp"
	"context"
	"time"

	"orrery/controller/manager"
	"orrery/controller/rbac"
	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/restclient"
	"orrery/restclient/api"
)

// VirtualMachineOptions configure the controller of virtual machines.
type VirtualMachineOptions struct {
	// Driver is the name of the driver, one of driver.Names. Default: memory.
	Driver string
	// Use is a driver that replaces the named one.
	Use driver.Interface
	// Servers configure the named driver.
	Servers driver.Options
	// Timeout is how long the creation of a machine may take. Default 10 minutes.
	Timeout time.Duration
	Workers int
}

func virtualMachine(options VirtualMachineOptions) manager.Descriptor {
	return manager.Descriptor{
		Name: "virtualmachine", Alias: "vm", About: "creates the machines that VirtualMachine objects describe",
		OnDemand: true, EventsEverywhere: true,
		Needs: []api.GroupVersionResource{virtualmachine.Resource},
		Rights: func(bool) []rbac.Right {
			return []rbac.Right{
				rbac.RightTo(virtualmachine.Resource, "", "Virtual machines are watched, and written for their finalizer.", "list", "watch", "update"),
				rbac.RightTo(virtualmachine.Resource, "status", "The state of a machine.", "update"),
			}
		},
		New: func(c manager.ControllerContext) (manager.Controller, error) {
			return startVirtualMachine(c, options)
		},
	}
}

// definition stands for all virtual machines: the Events about the driver are about it.
var definition = api.ObjectReference{
	APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: virtualmachine.Resource.GroupResource(),
}

func startVirtualMachine(c manager.ControllerContext, options VirtualMachineOptions) (manager.Controller, error) {
	machines := options.Use
	if machines == nil {
		var err error
		if machines, err = driver.New(cmp.Or(options.Driver, "memory"), options.Servers); err != nil {
			return nil, err
		}
	}
	workers, recorder := c.WorkerConfig("virtualmachine"), c.Recorder()
	workers.Workers = options.Workers
	controller, err := virtualmachine.NewController(virtualmachine.Config{
		Machines: manager.InformerFor(c, virtualmachine.Resource, func(vm *virtualmachine.VirtualMachine) *api.ObjectMeta { return &vm.ObjectMeta }),
		Client:   restclient.Typed[*virtualmachine.VirtualMachine](c.Client, virtualmachine.Resource, ""),
		Driver:   machines, CreateTimeout: options.Timeout,
		Worker: workers,
		Trace: &virtualmachine.Trace{
			Event: func(vm *virtualmachine.VirtualMachine, kind api.EventType, reason, message string) {
				recorder.Event(context.Background(), about(virtualmachine.Kind, "cloudnative.tw/v1alpha1", &vm.ObjectMeta), kind, reason, message)
			},
			Waiting: func(vm *virtualmachine.VirtualMachine, why error) {
				c.Logger.Warn().Str("controller", c.Name).Str("key", vm.Namespace+"/"+vm.Name).Err(why).
					Msg("invalid spec, waiting for a change")
			},
			DriverWorks: func(err error) {
				if err != nil {
					c.Logger.Warn().Str("controller", c.Name).Err(err).Msg("controller is waiting, its driver fails")
					recorder.Event(context.Background(), definition, api.EventWarning, "DriverFailed", c.Name+" waits, "+err.Error())
					return
				}
				c.Logger.Info().Str("controller", c.Name).Msg("controller continues, its driver works again")
				recorder.Event(context.Background(), definition, api.EventNormal, "DriverWorks", c.Name+" continues, its driver works again")
			},
		},
	})
	if err != nil {
		return nil, err
	}
	c.Show("controller/"+c.Name, func() any { return controller.Snapshot() })
	return controller, nil
}
