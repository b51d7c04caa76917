package virtualmachine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/internal/hooks/hookstest"
	"orrery/restclient/api"
	"orrery/wait"
)

// The life of a machine as in the article: it is created and gets its finalizer, its usage is
// shown, and its deletion arrives as an update.
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

// The status writes of the controller cause no pass: there is one for each change of the spec and
// one in each period.
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

// A machine is replaced when its spec changes.
func TestAnotherSize(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.start()
		w.create("a")
		time.Sleep(time.Second)
		w.resize("a", "8G")
		time.Sleep(time.Second)
		for _, request := range w.driver.Servers() {
			assert.Equal(w.t, int64(8_000_000_000), request.Memory)
		}
		assert.Len(w.t, w.driver.Names(), 1)
		assert.Equal(w.t, "memory-2", w.get("a").Status.Server.ID)
		assert.Equal(w.t, []string{"a: Pending", "a: Active", "a: Pending", "a: Active"}, told(p, &p.phases))
	})
}

// The article's first example: the object has the finalizer from the start, and nobody has created
// a machine for it.
func TestAnObjectThatCameWithTheFinalizer(t *testing.T) {
	inBubble(t, func(w *world) {
		w.create("test-vm-finalizer", func(vm *virtualmachine.VirtualMachine) { vm.Finalizers = []string{"finalizer.cloudnative.tw"} })
		w.delete("test-vm-finalizer")
		time.Sleep(time.Hour)
		assert.NotNil(w.t, w.get("test-vm-finalizer"), "nobody works it off")
		w.start()
		time.Sleep(time.Second)
		assert.Nil(w.t, w.get("test-vm-finalizer"))
	})
}

// A finalizer that was taken away by hand is written again.
func TestAFinalizerThatWasTakenAway(t *testing.T) {
	inBubble(t, func(w *world) {
		w.start()
		w.create("a")
		time.Sleep(time.Second)
		vm := w.get("a")
		vm.Finalizers = nil
		_, err := w.user.Update(w.t.Context(), vm, api.UpdateOptions{})
		require.NoError(w.t, err)
		time.Sleep(period)
		assert.Equal(w.t, []string{"finalizer.cloudnative.tw"}, w.get("a").Finalizers)
		assert.Equal(w.t, "Active", w.phase("a"))
		assert.Equal(w.t, "memory-1", w.get("a").Status.Server.ID, "the machine is the same")
		w.delete("a")
		time.Sleep(time.Second)
		assert.Empty(w.t, w.driver.Names())
	})
}

// Two controllers at once hinder each other by conflicts, and lose nothing.
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

// The controller removes its own finalizer and leaves those of others alone.
func TestTheFinalizersOfOthers(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.start()
		w.create("a", func(vm *virtualmachine.VirtualMachine) { vm.Finalizers = []string{"example.com/other"} })
		time.Sleep(time.Second)
		w.delete("a")
		time.Sleep(time.Second)
		assert.Equal(w.t, []string{"example.com/other"}, w.get("a").Finalizers)
		assert.Empty(w.t, w.driver.Names())
		passes := p.passesOf("default/a")
		time.Sleep(time.Hour)
		assert.Equal(w.t, passes, p.passesOf("default/a"), "there is nothing left to do")
		vm := w.get("a")
		vm.Finalizers = nil
		_, err := w.user.Update(w.t.Context(), vm, api.UpdateOptions{})
		require.NoError(w.t, err)
		assert.Nil(w.t, w.get("a"))
	})
}

// A name may be used again at once: the new object is another machine.
func TestTheSameNameAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		w.start()
		first := w.create("a")
		time.Sleep(time.Second)
		w.delete("a")
		synctest.Wait()
		second := w.create("a")
		time.Sleep(time.Second)
		assert.NotEqual(w.t, first.UID, second.UID)
		assert.Equal(w.t, []string{"a-" + second.UID}, w.driver.Names())
	})
}

// When stop ends, the pass that is under way is finished; when alive ends, it is not.
func TestTheEndOfAController(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(*process)
		took  time.Duration
		phase string
	}{
		"stopped": {func(p *process) { p.stop() }, 9 * time.Second, "Active"},
		"killed":  {func(p *process) { p.kill() }, 0, "Pending"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				p, _ := w.startFlawed(func(ctx context.Context, call, _ string) error {
					if call == "CreateServer" {
						return wait.Sleep(ctx, 10*time.Second)
					}
					return nil
				}, func(config *virtualmachine.Config) { config.Workers = 1 })
				time.Sleep(time.Second)
				w.create("a")
				synctest.Wait()
				w.create("b")
				time.Sleep(time.Second)
				began := time.Now()
				c.end(p)
				p.done.Wait()
				assert.Equal(w.t, c.took, time.Since(began))
				assert.Equal(w.t, c.phase, w.phase("a"))
				assert.Empty(w.t, w.phase("b"), "what waits is left for the next run")
				w.start()
				time.Sleep(time.Second)
				assert.Equal(w.t, "Active", w.phase("b"))
			})
		})
	}
}

// A controller that stands by collects nothing, and one whose informer has ended returns.
func TestBeforeAndAfter(t *testing.T) {
	inBubble(t, func(w *world) {
		var standby *virtualmachine.Controller
		p := w.start(func(config *virtualmachine.Config) {
			var err error
			standby, err = virtualmachine.NewController(*config)
			require.NoError(w.t, err)
		})
		w.create("a")
		time.Sleep(time.Second)
		assert.Empty(w.t, standby.Snapshot().Queued)
		standby.UpdateMetrics()
		p.ended()
		standby.RunWithin(w.t.Context(), w.t.Context())
	})
}

func TestWhatAControllerNeeds(t *testing.T) {
	_, err := virtualmachine.NewController(virtualmachine.Config{})
	assert.EqualError(t, err, "a controller of virtual machines needs an informer, a client and a driver")
}

func TestTracesAreJoined(t *testing.T) { hookstest.Run(t, virtualmachine.JoinTraces) }
