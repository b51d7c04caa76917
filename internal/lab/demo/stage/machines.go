package stage

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	vms "orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/informer"
	"orrery/internal/lab/demo/story"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// machines are the servers of a scene, which outlive the controller that makes them.
type machines struct {
	driver driver.Memory
	stop   func() // ends the controller that runs
}

// serversLine is the bar that shows how many servers there are.
const serversLine = "servers outside"

// DefineMachines makes the resource of examples/virtualmachine known, and waits until the server has it.
func (s *Stage) DefineMachines(ctx context.Context) error {
	var object map[string]any
	if err := yaml.NewDecoder(bytes.NewReader(vms.CustomResourceDefinition)).Decode(&object); err != nil {
		return fmt.Errorf("reading crd.yaml: %w", err)
	}
	definitions := s.objectsOf(resource("apiextensions.k8s.io", "v1", "customresourcedefinitions"), "")
	if _, err := definitions.Create(ctx, &api.Unstructured{Object: object}, api.UpdateOptions{}); err != nil && !api.IsAlreadyExists(err) {
		return fmt.Errorf("defining the virtual machines: %w", err)
	}
	s.Tell(story.You, "kubectl apply -f examples/virtualmachine/crd.yaml: now there are virtual machines")
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		_, err := s.objectsOf(vms.Resource, Namespace).List(ctx, api.ListOptions{Limit: 1})
		if api.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// StartMachines starts the controller of the machines. It ends with the stage, or by StopMachines.
func (s *Stage) StartMachines() error {
	teller := s.config.Teller
	objects := restclient.Typed[*vms.VirtualMachine](s.clients[story.Controller], vms.Resource, "")
	m := &meter{teller: teller}
	cache := newInformer(objects, vms.Resource.Resource, s.config.Gears, m, nil)
	_, err := cache.AddEventHandler(informer.ResourceEventHandlerFuncs[*vms.VirtualMachine]{
		UpdateFunc: func(old, vm *vms.VirtualMachine) {
			if old.DeletionTimestamp == nil && vm.DeletionTimestamp != nil {
				teller.Tell(story.Handler, "the deletion of %s arrives as an update: metadata.deletionTimestamp is set", vm.Name)
			}
		},
		DeleteFunc: func(deleted informer.DeletedObject[*vms.VirtualMachine]) {
			teller.Tell(story.Server, "the last finalizer of %s has gone, and the object with it", deleted.Object.Name)
		},
	})
	if err != nil {
		return err
	}
	controller, err := vms.NewController(vms.Config{
		Machines: cache, Client: objects, Driver: &s.machines.driver, NewQueue: s.config.Gears.NewQueue, Trace: s.machinesTrace(),
	})
	if err != nil {
		return err
	}
	working, cancel := context.WithCancel(s.slowCtx)
	informing, end := context.WithCancel(context.WithoutCancel(s.slowCtx))
	ended := make(chan struct{})
	s.running.Go(func() {
		defer close(ended)
		var informers sync.WaitGroup
		informers.Go(func() { cache.Run(informing) })
		controller.RunWithin(working, informing)
		end() // after the controller, which reads the store to the end
		informers.Wait()
		teller.Update(func(state *story.State) { state.Gears.Objects -= m.objects })
	})
	s.machines.stop = func() { cancel(); <-ended }
	s.Tell(story.Operator, "the controller of the machines runs: an informer, a queue and workers of its own")
	return nil
}

// StopMachines stops the controller of the machines.
func (s *Stage) StopMachines() {
	s.machines.stop()
	s.Tell(story.Demo, "the controller of the machines is stopped")
}

func (s *Stage) machinesTrace() *vms.Trace {
	return &vms.Trace{
		PhaseChanged: func(vm *vms.VirtualMachine, _ vms.VirtualMachinePhase) {
			s.Tell(story.Operator, "%s is %s; its finalizers are %v", vm.Name, vm.Status.Phase, vm.Finalizers)
		},
		Event: func(vm *vms.VirtualMachine, _ api.EventType, reason, message string) {
			s.config.Teller.Update(func(state *story.State) {
				state.Line(serversLine, len(s.machines.driver.Names()))
				state.Tell(story.Operator, "%s: %s, %s", vm.Name, reason, message)
			})
		},
	}
}

// CreateMachine creates a virtual machine in the namespace.
func (s *Stage) CreateMachine(ctx context.Context, name string) error {
	s.Tell(story.You, "kubectl apply: a virtual machine %s, with 2 CPUs and 4G of memory", name)
	_, err := s.objectsOf(vms.Resource, Namespace).Create(ctx, &api.Unstructured{Object: map[string]any{
		"apiVersion": "cloudnative.tw/v1alpha1", "kind": vms.Kind, "metadata": map[string]any{"name": name},
		"spec": map[string]any{"resource": map[string]any{"cpu": int64(2), "memory": "4G"}},
	}}, api.UpdateOptions{})
	return err
}

// DeleteMachine deletes a virtual machine, and tells whether it has gone at once.
func (s *Stage) DeleteMachine(ctx context.Context, name string) error {
	s.Tell(story.You, "kubectl delete vms %s", name)
	return s.objectsOf(vms.Resource, Namespace).Delete(ctx, name, api.DeleteOptions{})
}

// ShowMachine tells what somebody sees who asks for a virtual machine.
func (s *Stage) ShowMachine(ctx context.Context, name string) error {
	vm, err := s.objectsOf(vms.Resource, Namespace).Get(ctx, name, api.GetOptions{})
	if err != nil {
		return err
	}
	s.Tell(story.You, "kubectl get vms %s -o yaml: status.phase is %s, metadata.finalizers %v, metadata.deletionTimestamp set: %t",
		name, vm.NestedString("status", "phase"), vm.GetFinalizers(), vm.GetDeletionTimestamp() != nil)
	return nil
}

// ServersAre returns a condition: there are so many servers outside of the cluster.
func ServersAre(count int) func(*story.State) bool {
	return func(state *story.State) bool {
		for _, line := range state.Lines {
			if line.Name == serversLine {
				return line.Left == count
			}
		}
		return count == 0
	}
}
