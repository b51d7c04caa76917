package virtualmachine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/examples/virtualmachine"
	"orrery/restclient/api"
)

// ours is the finalizer of the controller, and theirs that of another one.
const (
	ours   = "finalizer.cloudnative.tw"
	theirs = "example.com/other"
)

// contract is how a controller creates and deletes machines, one behaviour after the other.
var contract = []struct {
	name string
	test func(w *world)
}{
	{"Create/TheMachineIsMadeAndThePhaseIsActive", machineIsMade},
	{"Create/TheServerHasTheFinalizer", serverHasTheFinalizer},
	{"Create/TheFinalizerIsThereBeforeTheMachine", finalizerBeforeMachine},
	{"Create/AFailureIsInTheStatusAndIsTriedAgain", failureInTheStatus},
	{"Create/AWriteComesBeforeAMachine", writeBeforeMachine},
	{"Create/AnotherSpecIsAnotherMachine", anotherSpec},
	{"Create/AnActiveMachineIsOnlyAskedForItsUsage", onlyUsage},
	{"Delete/ADeletionIsAnUpdate", deletionIsAnUpdate},
	{"Delete/AnObjectThatHasGoneNeedsNothing", goneNeedsNothing},
	{"Delete/TheMachineGoesBeforeTheFinalizer", machineBeforeFinalizer},
	{"Delete/TheFinalizersOfOthersStay", finalizersOfOthers},
	{"Delete/ADeletedObjectGetsNoMachine", deletedGetsNoMachine},
	{"Delete/AnObjectThatFailedGoesAsWell", failedGoes},
	{"Delete/AMachineThatCannotBeDeletedHoldsItsObject", machineHoldsObject},
	{"Delete/ItWaitsForAControllerThatIsDown", deletionWaits},
}

// TestContract runs it with the textbook gears. Lab 12 runs it on a learner's page.
func TestContract(t *testing.T) {
	set, err := gears.Parse("textbook")
	require.NoError(t, err)
	for _, behaviour := range contract {
		t.Run(behaviour.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { behaviour.test(newWorld(t, set)) })
		})
	}
}

// observed adds a function to a controller that is called before each call of the driver and each
// write.
func observed(before func(call string, vm *machine) error) func(*virtualmachine.Config) {
	return func(config *virtualmachine.Config) {
		withAnswers(func(call string, vm *machine, err error) (*machine, error) {
			return vm, errors.Join(err, before(call, vm))
		})(config)
		flawed(func(_ context.Context, call, _ string) error { return before(call, nil) })(config)
	}
}

func machineIsMade(w *world) {
	p := w.start()
	vm := w.createAndWait("a")
	assert.Equal(w.t, []string{"a-" + vm.UID}, w.driver.Names(),
		"an object has one machine, with the name of serverName")
	assert.Equal(w.t, []string{"a: Pending", "a: Active"}, told(p, &p.phases),
		"the phase goes from none to Pending to Active")
	stored := w.get("a")
	assert.Equal(w.t, virtualmachine.VirtualMachineActive, stored.Status.Phase, "the server has the phase Active")
	assert.Equal(w.t, stored.Generation, stored.Status.ObservedGeneration,
		"observedGeneration is the generation that the machine was made for")
	assert.Empty(w.t, told(p, &p.errors), "no pass fails")
	assert.Equal(w.t, 1, p.passesOf("default/a"),
		"one pass takes all steps, each with the object that the last write returned")
}

func serverHasTheFinalizer(w *world) {
	w.start()
	w.createAndWait("a", func(vm *machine) { vm.Finalizers = []string{theirs} })
	assert.Equal(w.t, []string{theirs, ours}, w.get("a").Finalizers,
		"the object on the server has the finalizers of others and then this controller's")
}

func has(vm *machine, finalizer string) bool {
	return vm != nil && strings.Contains(strings.Join(vm.Finalizers, " "), finalizer)
}

func finalizerBeforeMachine(w *world) {
	var asked atomic.Int32
	w.start(observed(func(call string, _ *machine) error {
		if call == "CreateServer" {
			asked.Add(1)
			assert.True(w.t, has(w.get("a"), ours),
				"CreateServer was called before the server had the finalizer: a controller that is killed now "+
					"leaks the machine")
		}
		return nil
	}))
	w.createAndWait("a")
	assert.EqualValues(w.t, 1, asked.Load(), "CreateServer is called once")
}

func failureInTheStatus(w *world) {
	var repaired atomic.Bool
	p := w.start(observed(func(call string, _ *machine) error {
		if call == "CreateServer" && !repaired.Load() {
			return errors.New("no room")
		}
		return nil
	}))
	w.createAndWait("a")
	assert.Equal(w.t, "Failed", w.phase("a"), "a driver's error makes the phase Failed")
	assert.Equal(w.t, "the server cannot be created: no room", w.get("a").Status.Reason, "the status has the reason")
	repaired.Store(true)
	time.Sleep(time.Minute)
	assert.Equal(w.t, "Active", w.phase("a"),
		"a pass that failed is repeated, and creates the machine from the phase Failed")
	assert.Empty(w.t, w.get("a").Status.Reason, "the reason goes with the trouble")
	assert.Equal(w.t, []string{ours}, w.get("a").Finalizers,
		"the finalizer is on the object once, after many attempts as well")
	assert.NotEmpty(w.t, told(p, &p.errors), "syncHandler returns the error, so that the worker tries again")
}

// The server refuses to write an outdated object. The driver would create a machine for it.
func writeBeforeMachine(w *world) {
	var outdated atomic.Bool
	p := w.start(observed(func(call string, vm *machine) error {
		if outdated.Load() && vm != nil {
			return api.NewStatusError(api.Status{Code: 409, Reason: api.ReasonConflict, Message: "the object is newer"})
		}
		if call == "CreateServer" {
			if outdated.Load() {
				assert.Fail(w.t, "CreateServer was called although the server refuses every write of this object")
			}
			return errors.New("not yet")
		}
		return nil
	}))
	w.createAndWait("a")
	require.Equal(w.t, "Failed", w.phase("a"), "the first attempt has failed, and the object has its finalizer")
	outdated.Store(true)
	passes := p.passesOf("default/a")
	time.Sleep(10 * time.Minute)
	assert.Greater(w.t, p.passesOf("default/a"), passes, "a pass that meets a conflict has failed, and is repeated")
	assert.NotContains(w.t, strings.Join(told(p, &p.events), "\n"), "FailedSync",
		"a cache that is behind is not reported")
}

func anotherSpec(w *world) {
	p := w.start(observed(func(call string, _ *machine) error {
		if call == "CreateServer" {
			assert.Empty(w.t, w.get("a").Status.Server,
				"CreateServer was called while the status still showed the server of the old spec")
		}
		return nil
	}))
	w.createAndWait("a")
	w.resize("a", "8G")
	time.Sleep(time.Second)
	for _, request := range w.driver.Servers() {
		assert.Equal(w.t, int64(8_000_000_000), request.Memory, "the machine has the size of the new spec")
	}
	assert.Len(w.t, w.driver.Names(), 1, "the new machine replaces the old one")
	assert.Equal(w.t, "memory-2", w.get("a").Status.Server.ID,
		"the machine of the old spec was deleted, and another one was created")
	assert.Equal(w.t, []string{"a: Pending", "a: Active", "a: Pending", "a: Active"}, told(p, &p.phases),
		"the phase goes through Pending again")
}

func onlyUsage(w *world) {
	p := w.start()
	w.createAndWait("a")
	version := w.get("a").ResourceVersion
	time.Sleep(10 * period)
	assert.Equal(w.t, 11, p.passesOf("default/a"),
		"again is usagePeriod for an active machine: one pass for the creation, and one each period")
	assert.NotEqual(w.t, version, w.get("a").ResourceVersion, "the usage is written, and such a write asks for no pass")
	assert.Equal(w.t, []string{"a: Pending", "a: Active"}, told(p, &p.phases), "an active machine stays Active")
	assert.Equal(w.t, "memory-1", w.get("a").Status.Server.ID, "an active machine is not created again")
}

func deletionIsAnUpdate(w *world) {
	p := w.start()
	vm := w.createAndWait("a")
	w.delete("a")
	time.Sleep(2 * period)
	assert.Empty(w.t, w.driver.Names(), "the machine is gone")
	assert.Nil(w.t, w.get("a"), "the object is gone: the controller has removed its finalizer from the server's object")
	assert.Equal(w.t, []string{"a: Pending", "a: Active", "a: Terminating"}, told(p, &p.phases),
		"the phase becomes Terminating first")
	assert.Contains(w.t, told(p, &p.events), "a Normal ServerDeleted: the server a-"+vm.UID+" was deleted",
		"there is an Event about the deletion")
	assert.Empty(w.t, told(p, &p.errors), "no pass fails, not even one for a key whose object is gone")
}

// The only worker is busy with another object for two seconds. Meanwhile this one is created and
// deleted: without a finalizer it goes at once, and its key is still queued.
func goneNeedsNothing(w *world) {
	p := w.start(observed(func(call string, _ *machine) error {
		if call == "CreateServer" {
			time.Sleep(2 * time.Second)
		}
		return nil
	}), func(config *virtualmachine.Config) { config.Worker.Workers = 1 })
	busy := w.createAndWait("a")
	w.create("b")
	w.delete("b")
	assert.Nil(w.t, w.get("b"))
	time.Sleep(2 * period)
	assert.Empty(w.t, told(p, &p.errors),
		"a pass over an object that has gone is a success: there is nothing to try again")
	assert.Equal(w.t, []string{"a-" + busy.UID}, w.driver.Names(), "an object that has gone gets no machine")
}

func machineBeforeFinalizer(w *world) {
	var asked atomic.Int32
	w.start(observed(func(call string, _ *machine) error {
		if call == "DeleteServer" {
			asked.Add(1)
			assert.True(w.t, has(w.get("a"), ours),
				"DeleteServer was called after the finalizer was removed: a controller that is killed now "+
					"leaks the machine")
		}
		return nil
	}))
	w.createAndWait("a", func(vm *machine) { vm.Finalizers = []string{theirs} })
	w.deleteAndWait("a")
	assert.EqualValues(w.t, 1, asked.Load(), "DeleteServer is called once")
}

func finalizersOfOthers(w *world) {
	p := w.start()
	w.createAndWait("a", func(vm *machine) { vm.Finalizers = []string{theirs} })
	w.deleteAndWait("a")
	vm := w.get("a")
	require.NotNil(w.t, vm,
		"the object stays: it has a finalizer of another controller, which only that one may remove")
	assert.Equal(w.t, []string{theirs}, vm.Finalizers, "the controller removes its own finalizer and no other")
	assert.Empty(w.t, w.driver.Names(), "the machine is gone")
	passes := p.passesOf("default/a")
	time.Sleep(time.Hour)
	assert.Equal(w.t, passes, p.passesOf("default/a"), "an object that waits for others needs no pass")
	vm.Finalizers = nil
	_, err := w.user.Update(w.t.Context(), vm, api.UpdateOptions{})
	require.NoError(w.t, err)
	assert.Nil(w.t, w.get("a"), "the object goes with the last finalizer")
}

func deletedGetsNoMachine(w *world) {
	w.create("a", func(vm *machine) { vm.Finalizers = []string{theirs} })
	w.delete("a")
	p := w.start()
	time.Sleep(time.Minute)
	assert.Empty(w.t, told(p, &p.events), "an object that was deleted before the controller saw it gets no machine")
	assert.Equal(w.t, []string{theirs}, w.get("a").Finalizers, "a terminating object must not get a finalizer")
	assert.Empty(w.t, told(p, &p.errors), "such an object is no error")
}

func failedGoes(w *world) {
	w.driver.Capacity = 1 << 30
	w.start()
	w.createAndWait("large")
	require.Equal(w.t, "Failed", w.phase("large"), "4 GB are more than the driver has")
	w.deleteAndWait("large")
	if vm := w.get("large"); vm != nil {
		assert.Fail(w.t, "a deletion must work from every phase: otherwise the object stays forever",
			"the phase is %s, and the reason %q", vm.Status.Phase, vm.Status.Reason)
	}
}

func machineHoldsObject(w *world) {
	var repaired atomic.Bool
	p := w.start(observed(func(call string, _ *machine) error {
		if call == "DeleteServer" && !repaired.Load() {
			return errors.New("the engine is down")
		}
		return nil
	}))
	w.createAndWait("a")
	w.delete("a")
	time.Sleep(time.Minute)
	vm := w.get("a")
	require.NotNil(w.t, vm, "the object stays as long as its machine cannot be deleted")
	assert.Equal(w.t, "the server cannot be deleted: the engine is down", vm.Status.Reason, "the status has the reason")
	assert.Equal(w.t, virtualmachine.VirtualMachineTerminating, vm.Status.Phase, "the phase stays Terminating")
	events := strings.Join(told(p, &p.events), "\n")
	assert.NotContains(w.t, events, "ServerDeleted", "no Event says that the server was deleted")
	assert.Contains(w.t, events, "a Warning FailedDeleteServer: the server cannot be deleted: the engine is down")
	repaired.Store(true)
	time.Sleep(2 * time.Minute)
	assert.Nil(w.t, w.get("a"), "a pass that failed is repeated, and the object goes after its machine")
}

// kubectl delete hangs while the controller is stopped, and ends when it runs again.
func deletionWaits(w *world) {
	p := w.start()
	w.createAndWait("a")
	p.ended()
	w.delete("a")
	time.Sleep(time.Hour)
	vm := w.get("a")
	require.NotNil(w.t, vm, "the finalizer keeps the object while no controller runs")
	assert.NotNil(w.t, vm.DeletionTimestamp, "the object is terminating")
	w.start()
	time.Sleep(time.Second)
	assert.Empty(w.t, w.driver.Names(),
		"the next controller deletes the machine, although it has not seen the deletion")
	assert.Nil(w.t, w.get("a"), "and then the object goes")
}
