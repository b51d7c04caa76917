package virtualmachine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// The article's first example: the object has the finalizer from the start, and no controller has
// created a machine for it.
func TestAnObjectThatCameWithTheFinalizer(t *testing.T) {
	inBubble(t, func(w *world) {
		w.create("test-vm-finalizer", func(vm *machine) { vm.Finalizers = []string{"finalizer.cloudnative.tw"} })
		w.delete("test-vm-finalizer")
		time.Sleep(time.Hour)
		assert.NotNil(w.t, w.get("test-vm-finalizer"), "no controller removes the finalizer")
		w.start()
		time.Sleep(time.Second)
		assert.Nil(w.t, w.get("test-vm-finalizer"))
	})
}

// A finalizer that was removed by hand is added again.
func TestAFinalizerThatWasTakenAway(t *testing.T) {
	inBubble(t, func(w *world) {
		w.start()
		w.createAndWait("a")
		vm := w.get("a")
		vm.Finalizers = nil
		_, err := w.user.Update(w.t.Context(), vm, api.UpdateOptions{})
		require.NoError(w.t, err)
		time.Sleep(period)
		assert.Equal(w.t, []string{"finalizer.cloudnative.tw"}, w.get("a").Finalizers)
		assert.Equal(w.t, "Active", w.phase("a"))
		assert.Equal(w.t, "memory-1", w.get("a").Status.Server.ID, "the machine is the same")
		w.deleteAndWait("a")
		assert.Empty(w.t, w.driver.Names())
	})
}

// Two concurrent controllers cause conflicts for each other and lose nothing.
func TestTwoControllers(t *testing.T) {
	inBubble(t, func(w *world) {
		one, other := w.start(), w.start()
		names := []string{"a", "b", "c", "d", "e"}
		for _, name := range names {
			w.create(name)
		}
		time.Sleep(time.Minute)
		for _, name := range names {
			assert.Equal(w.t, "Active", w.phase(name))
		}
		assert.Len(w.t, w.driver.Names(), len(names))
		for _, name := range names {
			w.delete(name)
		}
		time.Sleep(time.Minute)
		for _, name := range names {
			assert.Equal(w.t, "gone", w.phase(name))
		}
		assert.Empty(w.t, w.driver.Names())
		for _, err := range append(told(one, &one.errors), told(other, &other.errors)...) {
			assert.True(w.t, api.IsConflict(err) || api.IsNotFound(err), "%v", err)
		}
	})
}

// A name may be used again at once: the new object is another machine.
func TestTheSameNameAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		w.start()
		first := w.createAndWait("a")
		w.delete("a")
		synctest.Wait()
		second := w.createAndWait("a")
		assert.NotEqual(w.t, first.UID, second.UID)
		assert.Equal(w.t, []string{"a-" + second.UID}, w.driver.Names())
	})
}
