package virtualmachine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"orrery/examples/virtualmachine/driver"
	"orrery/informer"
	"orrery/restclient/api"
)

// finalizerName keeps the server from removing an object whose machine may exist.
const finalizerName = "finalizer.cloudnative.tw"

// eventHandler returns the informer's handler. It has no DeleteFunc: an object goes after its
// finalizer, and the finalizer after the machine.
func (c *Controller) eventHandler() informer.ResourceEventHandler[*VirtualMachine] {
	return informer.ResourceEventHandlerFuncs[*VirtualMachine]{
		AddFunc: func(vm *VirtualMachine, _ bool) { c.enqueue(vm) },
		UpdateFunc: func(old, vm *VirtualMachine) {
			if asksForMore(old, vm) {
				c.enqueue(vm)
			}
		},
	}
}

// syncHandler makes one pass over the object with a key. The object comes from the lister, whose
// objects are shared: the pass works on a deep copy. If there is no such object, the pass does
// nothing: the machine was deleted before the object went.
//
// The pass takes one step after the other, each with the object that the step before returned. (In
// the article a pass takes one step, and the event of its status update causes the next pass.) The
// first line that applies decides:
//
//	deleted, without this finalizer         the end: the object waits for the finalizers of others
//	deleted, the phase is not Terminating   makeTerminatingPhase
//	deleted                                 deleteServer, and the end
//	the phase is Pending or Failed          createServer
//	the phase is Active, the object has the finalizer, and observedGeneration is its generation
//	                                        updateUsage, and the end: again is usagePeriod
//	otherwise                               makePendingPhase
//
// If a step fails, the pass ends, and the error is that of c.failed(ctx, shared, err), where shared
// is the object from the lister. Unless the table says otherwise, again is 0: the next pass is due
// at the next event.
func (c *Controller) syncHandler(ctx context.Context, key string) (again time.Duration, err error) {
	namespace, name, err := informer.SplitMetaNamespaceKey(key)
	if err != nil {
		return 0, err
	}
	shared, err := c.lister.ByNamespace(namespace).Get(name)
	if err != nil {
		return 0, nil
	}
	for vm := shared.DeepCopy(); err == nil; {
		phase, deleted := vm.Status.Phase, vm.DeletionTimestamp != nil
		held := slices.Contains(vm.Finalizers, finalizerName)
		switch {
		case deleted && !held:
			return 0, nil
		case deleted && phase != VirtualMachineTerminating:
			vm, err = c.makeTerminatingPhase(ctx, vm)
		case deleted:
			return 0, c.failed(ctx, shared, c.deleteServer(ctx, vm))
		case phase == VirtualMachinePending || phase == VirtualMachineFailed:
			vm, err = c.createServer(ctx, vm)
		case phase == VirtualMachineActive && held && vm.Status.ObservedGeneration == vm.Generation:
			return c.usagePeriod, c.failed(ctx, shared, c.updateUsage(ctx, vm))
		default: // new, or active with another spec, or without the finalizer
			vm, err = c.makePendingPhase(ctx, vm)
		}
	}
	return 0, c.failed(ctx, shared, err)
}

// Each function below takes one step. It may change the object that it gets, and returns the object
// that the server has stored.

// makePendingPhase announces the creation of a machine.
func (c *Controller) makePendingPhase(ctx context.Context, vm *VirtualMachine) (*VirtualMachine, error) {
	if vm.Status.Phase == VirtualMachineNone {
		vm.Status.ObservedGeneration = vm.Generation // there is no machine yet, so none of an older spec
	}
	return c.updateStatus(ctx, vm, VirtualMachinePending, nil)
}

// createServer makes sure that the machine exists, in this order:
//
//  1. It writes to the server: the finalizer with Update, or the unchanged status with UpdateStatus
//     if the object has the finalizer. The server refuses to write an outdated object; the driver
//     would not refuse to create a machine for it. An error gets the words "the finalizer cannot be
//     written" or "the status cannot be written" in front, and goes through reportRefusal.
//  2. If observedGeneration is not the object's generation, a machine may exist for another spec.
//     createServer deletes it, and then writes the phase Pending with the new observedGeneration
//     and an empty status.server.
//  3. ensureServer creates the machine.
//  4. It writes the phase Active.
//
// A driver's error is reported with the phase Failed (report). A controller that is killed after
// the first write leaves a finalizer without a machine, which is harmless. The article creates the
// machine first: a controller that is killed then leaves a machine without a finalizer. If the
// object is deleted before the controller is back, that machine is leaked.
func (c *Controller) createServer(ctx context.Context, vm *VirtualMachine) (*VirtualMachine, error) {
	claimed, err := c.claim(ctx, vm)
	if err != nil {
		return nil, c.reportRefusal(ctx, vm, err)
	}
	vm = claimed
	if vm.Status.ObservedGeneration != vm.Generation {
		if err := c.driver.DeleteServer(ctx, serverName(vm)); err != nil {
			return nil, c.report(ctx, vm, VirtualMachineFailed, err)
		}
		vm.Status.ObservedGeneration, vm.Status.Server = vm.Generation, ServerStatus{}
		if vm, err = c.updateStatus(ctx, vm, VirtualMachinePending, nil); err != nil {
			return nil, err
		}
	}
	if err := c.ensureServer(ctx, vm); err != nil {
		return nil, c.report(ctx, vm, VirtualMachineFailed, err)
	}
	return c.updateStatus(ctx, vm, VirtualMachineActive, nil)
}

// claim makes the first write of createServer.
func (c *Controller) claim(ctx context.Context, vm *VirtualMachine) (*VirtualMachine, error) {
	write, what := c.client.UpdateStatus, "status"
	if !slices.Contains(vm.Finalizers, finalizerName) {
		vm.Finalizers = append(vm.Finalizers, finalizerName)
		write, what = c.client.Update, "finalizer"
	}
	claimed, err := write(ctx, vm, api.UpdateOptions{})
	if err != nil {
		return nil, fmt.Errorf("the %s cannot be written: %w", what, err)
	}
	return claimed, nil
}

// ensureServer creates the machine of the spec, unless it exists.
func (c *Controller) ensureServer(ctx context.Context, vm *VirtualMachine) error {
	cpu, err := vm.Spec.Resource.CPU.In(0.001)
	if err != nil {
		return &driver.RefusedError{Why: "spec.resource.cpu cannot be used: " + err.Error()}
	}
	memory, err := vm.Spec.Resource.Memory.In(1)
	if err != nil {
		return &driver.RefusedError{Why: "spec.resource.memory cannot be used: " + err.Error()}
	}
	name := serverName(vm)
	exists, err := c.driver.IsServerExist(ctx, name)
	if err != nil || exists { // the article ignores this error, and takes an engine that does not answer for one without machines
		return err
	}
	if err := c.driver.CreateServer(ctx, driver.CreateRequest{Name: name, CPU: cpu, Memory: memory}); err != nil {
		return err
	}
	c.event(vm, api.EventNormal, ReasonServerCreated, "the server "+name+" was created")
	return nil
}

// makeTerminatingPhase announces the deletion of the machine: the phase becomes Terminating.
func (c *Controller) makeTerminatingPhase(ctx context.Context, vm *VirtualMachine) (*VirtualMachine, error) {
	return c.updateStatus(ctx, vm, VirtualMachineTerminating, nil)
}

// deleteServer deletes the machine, calls event with EventNormal, ReasonServerDeleted and "the
// server NAME was deleted", and removes this controller's finalizer with Update. The finalizers of
// others stay. The server removes the object with the last one.
//
// A driver's error is reported with the phase Terminating, and the finalizer stays. If the server
// refuses the write, the error gets the words "the finalizer cannot be removed" in front, and goes
// through reportRefusal. An object that has gone meanwhile is a success.
func (c *Controller) deleteServer(ctx context.Context, vm *VirtualMachine) error {
	name := serverName(vm)
	if err := c.driver.DeleteServer(ctx, name); err != nil {
		return c.report(ctx, vm, VirtualMachineTerminating, err)
	}
	c.event(vm, api.EventNormal, ReasonServerDeleted, "the server "+name+" was deleted")
	vm.Finalizers = slices.DeleteFunc(vm.Finalizers, func(finalizer string) bool { return finalizer == finalizerName })
	if _, err := c.client.Update(ctx, vm, api.UpdateOptions{}); err != nil && !api.IsNotFound(err) {
		return c.reportRefusal(ctx, vm, fmt.Errorf("the finalizer cannot be removed: %w", err))
	}
	return nil
}
