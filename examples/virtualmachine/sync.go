package virtualmachine

import (
	"context"
	"errors"
	"slices"
	"time"

	"orrery/examples/virtualmachine/driver"
	"orrery/informer"
	"orrery/restclient/api"
)

// finalizerName keeps the server from removing an object whose machine may exist.
const finalizerName = "finalizer.cloudnative.tw"

// syncHandler brings one machine a step nearer to what its object asks for, and the next step,
// until there is nothing to do but to look at its usage now and then. It returns when to look
// again; 0 is not before something happens.
//
// In the article it makes one step and returns, and the update of its own status brings the object
// back. Here the answer to a write is the next state: one change of an object is one pass, and its
// own writes need no event.
func (c *Controller) syncHandler(ctx context.Context, key string) (again time.Duration, err error) {
	namespace, name, err := informer.SplitMetaNamespaceKey(key)
	if err != nil {
		return 0, err
	}
	shared, err := c.lister.ByNamespace(namespace).Get(name)
	if err != nil {
		return 0, nil // gone: the finalizer has gone before, and the machine before the finalizer
	}
	vm := shared.DeepCopy() // the store's objects belong to everybody
	again, err = c.makeSteps(ctx, vm)
	if err != nil && ctx.Err() == nil && !api.IsConflict(err) && !api.IsNotFound(err) {
		c.trace.Event(shared, api.EventWarning, reasonOf(err), err.Error())
	}
	return again, err // with a conflict or a 404, the cache was behind: the next pass sees more
}

func (c *Controller) makeSteps(ctx context.Context, vm *VirtualMachine) (again time.Duration, err error) {
	for err == nil {
		phase, deleted := vm.Status.Phase, vm.DeletionTimestamp != nil
		held := slices.Contains(vm.Finalizers, finalizerName)
		switch {
		case deleted && !held:
			return 0, nil // the rest is done; the object waits for the finalizers of others
		case deleted && phase != VirtualMachineTerminating:
			vm, err = c.makeTerminatingPhase(ctx, vm)
		case deleted:
			return 0, c.deleteServer(ctx, vm)
		case phase == VirtualMachinePending || phase == VirtualMachineFailed:
			vm, err = c.createServer(ctx, vm)
		case phase == VirtualMachineActive && held && vm.Status.ObservedGeneration == vm.Generation:
			return c.usagePeriod, c.updateUsage(ctx, vm)
		default: // new, or active with another spec, or without the finalizer
			vm, err = c.makePendingPhase(ctx, vm)
		}
	}
	return 0, err
}

// What can be wrong with a machine itself.
var (
	errInvalidSpec = errors.New("the spec is invalid")
	errServerLost  = errors.New("the server has ended")
)

// reasonOf returns the reason of the Event about a failure.
func reasonOf(err error) string {
	failed, ok := errors.AsType[*driver.Error](err)
	switch {
	case ok:
		return "Failed" + failed.Call
	case errors.Is(err, errInvalidSpec):
		return ReasonInvalidSpec
	case errors.Is(err, errServerLost):
		return ReasonServerLost
	}
	return ReasonFailedSync
}
