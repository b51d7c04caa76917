package virtualmachine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orrery/examples/virtualmachine/driver"
	"orrery/restclient/api"
)

// The functions of this page make one step each. They get an object that belongs to them, and
// return it as the server has it then.

// makePendingPhase says that a machine is going to be created.
func (c *Controller) makePendingPhase(ctx context.Context, vm *VirtualMachine) (*VirtualMachine, error) {
	if vm.Status.Phase == VirtualMachineNone {
		vm.Status.ObservedGeneration = vm.Generation // there is no machine yet, so none of an older spec
	}
	return c.updateStatus(ctx, vm, VirtualMachinePending, nil)
}

// createServer makes sure that there is a machine. First comes the finalizer, then the machine: a
// controller that is killed in between leaves a finalizer without a machine, which the next one
// removes in vain. The article has it the other way round, and a controller that is killed in
// between leaves a machine that nothing holds on to: if the object is deleted before the controller
// is back, nobody knows of that machine any more.
func (c *Controller) createServer(ctx context.Context, vm *VirtualMachine) (*VirtualMachine, error) {
	vm, err := c.claim(ctx, vm)
	if err != nil {
		return nil, err
	}
	if vm.Status.ObservedGeneration != vm.Generation { // a machine for another spec
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

// claim writes to the server before anything is done outside of it: the finalizer, or nothing new
// if the object has it. The cache may be behind, and what it shows may be deleted already. A write
// of an outdated object is refused; a machine that is created for one is not.
func (c *Controller) claim(ctx context.Context, vm *VirtualMachine) (*VirtualMachine, error) {
	write := c.client.UpdateStatus
	if !slices.Contains(vm.Finalizers, finalizerName) {
		addFinalizer(&vm.ObjectMeta, finalizerName)
		write = c.client.Update
	}
	vm, err := write(ctx, vm, api.UpdateOptions{})
	if err != nil {
		return nil, fmt.Errorf("claiming the object: %w", err)
	}
	return vm, nil
}

func (c *Controller) ensureServer(ctx context.Context, vm *VirtualMachine) error {
	cpu, err := vm.Spec.Resource.CPU.In(0.001)
	if err != nil {
		return fmt.Errorf("%w: cpu: %w", errInvalidSpec, err)
	}
	memory, err := vm.Spec.Resource.Memory.In(1)
	if err != nil {
		return fmt.Errorf("%w: memory: %w", errInvalidSpec, err)
	}
	name := serverName(vm)
	exists, err := c.driver.IsServerExist(ctx, name)
	if err != nil || exists { // the article drops the error: an engine that does not answer would look like one without machines
		return err
	}
	if err := c.driver.CreateServer(ctx, driver.CreateRequest{Name: name, CPU: cpu, Memory: memory}); err != nil {
		return err
	}
	c.trace.Event(vm, api.EventNormal, ReasonServerCreated, "the server "+name+" was created")
	return nil
}

// updateUsage writes down what the machine uses, if that has changed.
func (c *Controller) updateUsage(ctx context.Context, vm *VirtualMachine) error {
	status, err := c.driver.GetServerStatus(ctx, serverName(vm))
	switch {
	case err != nil:
		return c.report(ctx, vm, VirtualMachineActive, err)
	case status.State == driver.Ended:
		vm.Status.Server = ServerStatus{}
		return c.report(ctx, vm, VirtualMachineFailed, fmt.Errorf("%w: %s", errServerLost, status.Reason))
	}
	before := vm.Status
	vm.Status.Server = ServerStatus{ID: status.ID, State: status.State, Usage: ResourceUsage{CPU: status.CPUPercentage, Memory: status.MemoryPercentage}}
	if vm.Status == before && before.Reason == "" {
		return nil
	}
	_, err = c.updateStatus(ctx, vm, VirtualMachineActive, nil)
	return err
}

// makeTerminatingPhase says that the machine is going to be deleted.
func (c *Controller) makeTerminatingPhase(ctx context.Context, vm *VirtualMachine) (*VirtualMachine, error) {
	return c.updateStatus(ctx, vm, VirtualMachineTerminating, nil)
}

// deleteServer deletes the machine. Only when that is done it removes the finalizer, and the server
// removes the object.
func (c *Controller) deleteServer(ctx context.Context, vm *VirtualMachine) error {
	name := serverName(vm)
	if err := c.driver.DeleteServer(ctx, name); err != nil {
		return c.report(ctx, vm, VirtualMachineTerminating, err)
	}
	c.trace.Event(vm, api.EventNormal, ReasonServerDeleted, "the server "+name+" was deleted")
	removeFinalizer(&vm.ObjectMeta, finalizerName)
	if _, err := c.client.Update(ctx, vm, api.UpdateOptions{}); err != nil && !api.IsNotFound(err) {
		return fmt.Errorf("removing the finalizer: %w", err)
	}
	return nil
}

// report writes into the status what went wrong, and returns it.
func (c *Controller) report(ctx context.Context, vm *VirtualMachine, phase VirtualMachinePhase, err error) error {
	_, failed := c.updateStatus(ctx, vm, phase, err)
	return errors.Join(err, failed)
}

// updateStatus writes the status with a phase, and what is in the way, if anything.
func (c *Controller) updateStatus(ctx context.Context, vm *VirtualMachine, phase VirtualMachinePhase, reason error) (*VirtualMachine, error) {
	from := vm.Status.Phase
	vm.Status.Phase, vm.Status.Reason = phase, ""
	if reason != nil {
		vm.Status.Reason = reason.Error()
	}
	stored, err := c.client.UpdateStatus(ctx, vm, api.UpdateOptions{})
	if err != nil {
		return nil, fmt.Errorf("writing the status: %w", err)
	}
	if stored.Status.Phase != phase {
		return nil, fmt.Errorf("the server has not stored the phase %s: its resource is not that of crd.yaml", phase)
	}
	if phase != from {
		c.trace.PhaseChanged(stored, from)
	}
	return stored, nil
}

func addFinalizer(meta *api.ObjectMeta, name string) { meta.Finalizers = append(meta.Finalizers, name) }

func removeFinalizer(meta *api.ObjectMeta, name string) {
	meta.Finalizers = slices.DeleteFunc(meta.Finalizers, func(finalizer string) bool { return finalizer == name })
}

// serverName returns the driver's name for a machine: that of the object, for people, and its UID,
// since an object that is created again under the same name is another machine.
func serverName(vm *VirtualMachine) string {
	return strings.TrimRight(vm.Name[:min(len(vm.Name), 60)], "-.") + "-" + vm.UID
}
