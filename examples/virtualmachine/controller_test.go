package virtualmachine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
)

// The life of a machine as in the article: it is created and gets its finalizer, its usage is shown, and its deletion arrives as an
// update.
func TestTheLifeOfAMachine(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.start()
		vm := w.create("test-vm")
		time.Sleep(time.Second)
		name := "test-vm-" + vm.UID
		assert.Equal(w.t, map[string]driver.CreateRequest{name: {Name: name, CPU: 2000, Memory: 4_000_000_000}}, w.driver.Servers())
		vm = w.get("test-vm")
		assert.Equal(w.t, []string{"finalizer.cloudnative.tw"}, vm.Finalizers)
		assert.Equal(w.t, virtualmachine.VirtualMachineActive, vm.Status.Phase)
		assert.Equal(w.t, driver.Running, vm.Status.Server.State)
		assert.Equal(w.t, "memory-1", vm.Status.Server.ID)
		assert.Positive(w.t, vm.Status.Server.Usage.Memory)
		assert.Equal(w.t, int64(1), vm.Generation, "the quantities are written back as they were")

		w.delete("test-vm")
		time.Sleep(time.Second)
		assert.Nil(w.t, w.get("test-vm"))
		assert.Empty(w.t, w.driver.Names())
		assert.Equal(w.t, []string{"test-vm: Pending", "test-vm: Active", "test-vm: Terminating"}, told(p, &p.phases))
		assert.Equal(w.t, []string{
			"test-vm Normal ServerCreated: the server " + name + " was created",
			"test-vm Normal ServerDeleted: the server " + name + " was deleted",
		}, told(p, &p.events))
		assert.Empty(w.t, told(p, &p.errors))
	})
}

// kubectl delete hangs while the controller is stopped, and ends when it runs again.
func TestADeletionWaitsForTheController(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.start()
		w.create("test-vm")
		time.Sleep(time.Second)
		p.ended()
		w.delete("test-vm")
		time.Sleep(time.Hour)
		vm := w.get("test-vm")
		require.NotNil(w.t, vm)
		assert.NotNil(w.t, vm.DeletionTimestamp)
		assert.Len(w.t, w.driver.Names(), 1)
		w.start()
		time.Sleep(time.Second)
		assert.Nil(w.t, w.get("test-vm"))
		assert.Empty(w.t, w.driver.Names())
	})
}

// The status writes of the controller cause no pass: there is one for each change of the spec and one in each period.
func TestNoPassIsCausedByOwnWrites(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.start()
		w.create("test-vm")
		time.Sleep(time.Second)
		assert.Equal(w.t, 1, p.passesOf("default/test-vm"), "one pass takes it from None to Active and writes the usage")
		version := w.get("test-vm").ResourceVersion
		time.Sleep(10 * period)
		assert.Equal(w.t, 11, p.passesOf("default/test-vm"))
		assert.NotEqual(w.t, version, w.get("test-vm").ResourceVersion, "the usage was written all the same")
		assert.Empty(w.t, told(p, &p.errors))
	})
}
