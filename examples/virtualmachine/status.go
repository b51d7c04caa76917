package virtualmachine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"orrery/examples/virtualmachine/driver"
	"orrery/restclient/api"
)

// errServerLost: the machine has ended, or was deleted by something else.
var errServerLost = errors.New("the server has ended")

// updateUsage writes the usage of the machine to the status if it has changed.
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
	vm.Status.Server = ServerStatus{ID: status.ID, State: status.State, Usage: ResourceUsage{
		CPU:    cpuUsed(status.CPUPercentage, vm.Spec.Resource.CPU),
		Memory: memoryUsed(status.MemoryPercentage, vm.Spec.Resource.Memory),
	}}
	if vm.Status == before && before.Reason == "" {
		return nil
	}
	_, err = c.updateStatus(ctx, vm, VirtualMachineActive, nil)
	return err
}

// failed returns the error of a pass, after an Event about it. It returns nil if the spec can never
// work: a change of it is an event. Conflicts and 404 get no Event: the cache was behind, and the
// next pass sees more.
func (c *Controller) failed(ctx context.Context, vm *VirtualMachine, err error) error {
	if err != nil && ctx.Err() == nil && !api.IsConflict(err) && !api.IsNotFound(err) {
		c.event(vm, api.EventWarning, reasonOf(err), err.Error())
	}
	if canNeverWork(err) {
		return nil
	}
	return err
}

// canNeverWork reports whether every pass over this spec would fail with the same error.
func canNeverWork(err error) bool {
	_, refused := errors.AsType[*driver.RefusedError](err)
	return refused
}

func (c *Controller) event(vm *VirtualMachine, kind api.EventType, reason, message string) {
	if c.trace.Event != nil {
		c.trace.Event(vm, kind, reason, message)
	}
}

// reasonOf returns the reason of the Event about a failure.
func reasonOf(err error) string {
	failed, ok := errors.AsType[*driver.Error](err)
	switch {
	case canNeverWork(err):
		return ReasonInvalidSpec
	case ok:
		return "Failed" + failed.Call
	case errors.Is(err, errServerLost):
		return ReasonServerLost
	}
	return ReasonFailedSync
}

// report writes an error to the status and returns it.
func (c *Controller) report(ctx context.Context, vm *VirtualMachine, phase VirtualMachinePhase, err error) error {
	if _, failed := c.updateStatus(ctx, vm, phase, err); failed != nil {
		return fmt.Errorf("%w (it should say: %v)", failed, err)
	}
	return err
}

// reportRefusal reports a write that the server has refused. Conflicts and 404 are not reported:
// the cache was behind, and the next pass sees more.
func (c *Controller) reportRefusal(ctx context.Context, vm *VirtualMachine, err error) error {
	if api.IsForbidden(err) || api.IsInvalid(err) {
		return c.report(ctx, vm, vm.Status.Phase, err)
	}
	return err
}

// updateStatus writes the status with a phase and a reason, which may be nil.
func (c *Controller) updateStatus(ctx context.Context, vm *VirtualMachine, phase VirtualMachinePhase,
	reason error) (*VirtualMachine, error) {
	from := vm.Status.Phase
	vm.Status.Phase, vm.Status.Reason = phase, ""
	if reason != nil {
		vm.Status.Reason = reason.Error()
	}
	stored, err := c.client.UpdateStatus(ctx, vm, api.UpdateOptions{})
	if err != nil {
		return nil, fmt.Errorf("the status cannot be written: %w", err)
	}
	if stored.Status.Phase != phase {
		return nil, fmt.Errorf("the server has not stored the phase %s: its resource is not that of crd.yaml", phase)
	}
	if phase != from && c.trace.PhaseChanged != nil {
		c.trace.PhaseChanged(stored, from)
	}
	return stored, nil
}

// serverName returns the driver's name for a machine. It has the object's name for people to read,
// and its UID because an object that is created again under the same name is another machine.
func serverName(vm *VirtualMachine) string {
	return strings.TrimRight(vm.Name[:min(len(vm.Name), 60)], "-.") + "-" + vm.UID
}
