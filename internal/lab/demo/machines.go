package demo

import (
	"context"
	"sync"
	"time"

	"orrery/controller"
	vms "orrery/examples/virtualmachine"
	"orrery/informer"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

var virtualMachine = Scene{
	Name: "virtualmachine",
	play: script(
		tell(You, "kubectl apply -f examples/virtualmachine/crd.yaml: the type VirtualMachine exists"),
		func(on *Stage, ctx context.Context) error {
			return on.define(ctx, vms.CustomResourceDefinition, vms.Resource)
		},
		(*Stage).Fill,
		(*Stage).StartMachines,
		createMachine("web"), createMachine("db"), createMachine("cache"),
		(*Stage).AwaitMachines,
		pause(look),
		deleteMachine("cache"),
		(*Stage).AwaitMachines,
		pause(look),
		do(func(on *Stage) { on.stopMachines() }),
		tell(Demo, "the controller of virtual machines stops"),
		deleteMachine("db"),
		showMachine("db"),
		pause(look),
		(*Stage).DeleteNamespace,
		emptied,
		(*Stage).ReleaseFinalizers,
		await(reported("NamespaceFinalizersRemaining")),
		(*Stage).ShowWhy,
		pause(look),
		tell(Demo, "the controller of the machines is started again: it hears of both deletions from its "+
			"first list"),
		(*Stage).StartMachines,
		(*Stage).AwaitMachines,
		gone,
	),
}

// serversLine is the name of the bar that counts the servers.
const serversLine = "servers outside"

// StartMachines starts the controller of the machines. It ends with the stage, or by stopMachines.
func (s *Stage) StartMachines(context.Context) error {
	objects := restclient.Typed[*vms.VirtualMachine](s.controller, vms.Resource, "")
	cache := newInformer(s, objects, vms.Resource.Resource)
	_, err := cache.AddEventHandler(informer.ResourceEventHandlerFuncs[*vms.VirtualMachine]{
		UpdateFunc: func(old, vm *vms.VirtualMachine) {
			if old.DeletionTimestamp == nil && vm.DeletionTimestamp != nil {
				s.Tell(Handler, "the deletion of %s arrives as an update that sets metadata.deletionTimestamp",
					vm.Name)
			}
		},
		DeleteFunc: func(deleted informer.DeletedObject[*vms.VirtualMachine]) {
			s.Tell(Server, "the last finalizer of %s is removed, and the server removes the object",
				deleted.Object.Name)
		},
	})
	if err != nil {
		return err
	}
	controller, err := vms.NewController(vms.Config{
		Machines: cache, Client: objects, Driver: &s.servers,
		Trace: &vms.Trace{
			PhaseChanged: func(vm *vms.VirtualMachine, _ vms.VirtualMachinePhase) {
				s.Tell(Operator, "%s is %s; its finalizers are %v", vm.Name, vm.Status.Phase, vm.Finalizers)
			},
			Event: func(vm *vms.VirtualMachine, _ api.EventType, reason, message string) {
				s.Update(func(state *State) {
					state.Line(serversLine, len(s.servers.Names()))
					state.Tell(Operator, "%s: %s, %s; its finalizers are %v",
						vm.Name, reason, message, vm.Finalizers)
				})
			},
		},
		Worker: controller.PoolConfig{
			NewQueue:   HoldQueue(s.Gates, "virtualmachine", s.Gears.NewQueue),
			QueueTrace: s.Recorder.Queue("virtualmachine"),
		},
	})
	if err != nil {
		return err
	}
	working, cancel := context.WithCancel(s.working)
	informing, end := context.WithCancel(context.WithoutCancel(s.working))
	ended := make(chan struct{})
	s.controllers.Go(func() {
		defer close(ended)
		var informers sync.WaitGroup
		informers.Go(func() { cache.Run(informing) })
		controller.RunWithin(working, informing)
		end() // only now: the controller reads the store until it returns
		informers.Wait()
	})
	s.stopMachines = func() { cancel(); <-ended }
	s.Tell(Operator, "the controller of virtual machines starts, with its own informer, queue and workers")
	return nil
}

// createMachine creates a virtual machine in the namespace.
func createMachine(name string) step {
	return func(on *Stage, ctx context.Context) error {
		on.Tell(You, "kubectl -n %s apply: a virtual machine %s, with 2 CPUs and 4G of memory", Namespace, name)
		_, err := on.objectsOf(vms.Resource, Namespace).Create(ctx, &api.Unstructured{Object: map[string]any{
			"apiVersion": "cloudnative.tw/v1alpha1", "kind": vms.Kind, "metadata": map[string]any{"name": name},
			"spec": map[string]any{"resource": map[string]any{"cpu": int64(2), "memory": "4G"}},
		}}, api.UpdateOptions{})
		return err
	}
}

// deleteMachine deletes a virtual machine.
func deleteMachine(name string) step {
	return func(on *Stage, ctx context.Context) error {
		on.Tell(You, "kubectl -n %s delete vms %s", Namespace, name)
		return on.objectsOf(vms.Resource, Namespace).Delete(ctx, name, api.DeleteOptions{})
	}
}

// showMachine reports phase, finalizers and deletionTimestamp of a virtual machine.
func showMachine(name string) step {
	return func(on *Stage, ctx context.Context) error {
		vm, err := on.objectsOf(vms.Resource, Namespace).Get(ctx, name, api.GetOptions{})
		if err == nil {
			on.Tell(You, "kubectl -n %s get vms %s -o yaml: status.phase is %s, metadata.finalizers %v, "+
				"metadata.deletionTimestamp set: %t", Namespace, name,
				vm.NestedString("status", "phase"), vm.GetFinalizers(), vm.GetDeletionTimestamp() != nil)
		}
		return err
	}
}

// AwaitMachines returns when there is one server for each virtual machine that is not being
// deleted, and no other server.
func (s *Stage) AwaitMachines(ctx context.Context) error {
	objects := s.objectsOf(vms.Resource, Namespace)
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		list, err := objects.List(ctx, api.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, vm := range list.Items {
			if vm.GetDeletionTimestamp() != nil || vm.NestedString("status",
				"phase") != string(vms.VirtualMachineActive) {
				return false, nil
			}
		}
		return len(s.servers.Names()) == len(list.Items), nil
	})
}
