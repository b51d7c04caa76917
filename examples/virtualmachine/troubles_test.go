package virtualmachine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/restclient/api"
)

// beforeCall is called before a call of a driver, which is not made if it returns an error.
type beforeCall func(ctx context.Context, call, name string) error

// flawed makes a controller's driver call a function before each call.
func flawed(before beforeCall) func(*virtualmachine.Config) {
	return func(config *virtualmachine.Config) {
		config.Driver = driver.Around(config.Driver,
			func(ctx context.Context, name, server string, call func(context.Context) error) error {
				if err := before(ctx, name, server); err != nil {
					return err
				}
				return call(ctx)
			})
	}
}

// resize changes the requested memory of a machine.
func (w *world) resize(name, memory string) {
	w.t.Helper()
	vm := w.get(name)
	vm.Spec.Resource.Memory = virtualmachine.Quantity(`"` + memory + `"`)
	_, err := w.user.Update(w.t.Context(), vm, api.UpdateOptions{})
	require.NoError(w.t, err)
}

// A spec that the driver refuses, or a size that the schema accepts and a machine cannot have: the
// phase is Failed with the reason, and so is an Event. A corrected spec is tried at once.
func TestASpecThatCanNeverWork(t *testing.T) {
	for _, c := range []struct{ cpu, memory, why string }{
		{"2", "4G", "the server cannot be created: 4000000000 bytes of memory were asked for, " +
			"and there are 1073741824"},
		{"2", "0", `spec.resource.memory cannot be used: "0" is out of range`},
		{"0", "1Gi", `spec.resource.cpu cannot be used: "0" is out of range`},
	} {
		inBubble(t, func(w *world) {
			w.driver.Capacity = 1 << 30
			p := w.start()
			quoted := func(text string) virtualmachine.Quantity { return virtualmachine.Quantity(`"` + text + `"`) }
			w.create("wrong", func(vm *machine) {
				vm.Spec.Resource = virtualmachine.ResourceList{CPU: quoted(c.cpu), Memory: quoted(c.memory)}
			})
			w.create("fine", func(vm *machine) { vm.Spec.Resource.Memory = `"512Mi"` })
			time.Sleep(20 * time.Minute)
			assert.Equal(w.t, "Failed", w.phase("wrong"))
			assert.Equal(w.t, c.why, w.get("wrong").Status.Reason)
			assert.Equal(w.t, "Active", w.phase("fine"))
			assert.Contains(w.t, told(p, &p.events), "wrong Warning InvalidSpec: "+c.why)
			assert.Equal(w.t, 1, p.passesOf("default/wrong"), "another pass would fail with the same error")
			assert.Empty(w.t, told(p, &p.errors))
			assert.Len(w.t, w.driver.Names(), 1)
			w.resize("wrong", "1Gi")
			time.Sleep(time.Second)
			if c.cpu != "0" {
				assert.Equal(w.t, "Active", w.phase("wrong"))
				assert.Empty(w.t, w.get("wrong").Status.Reason)
			}
			w.deleteAndWait("wrong")
			assert.Nil(w.t, w.get("wrong"))
		})
	}
}

// reporting is a driver whose servers have this status.
type reporting struct {
	driver.Interface
	status func() (driver.Status, error)
}

func (r reporting) GetServerStatus(context.Context, string) (driver.Status, error) { return r.status() }

// After a failure the usage is the same as before, and still the failure is cleared.
func TestTheReasonGoesWithTheTrouble(t *testing.T) {
	inBubble(t, func(w *world) {
		var silent atomic.Bool
		w.start(func(config *virtualmachine.Config) {
			config.Driver = reporting{w.driver, func() (driver.Status, error) {
				if silent.Load() {
					return driver.Status{}, errors.New("the engine is busy")
				}
				return driver.Status{ID: "1", State: driver.Running, CPUPercentage: 10, MemoryPercentage: 10}, nil
			}}
		})
		w.create("vm")
		time.Sleep(3 * period)
		usage := w.get("vm").Status.Server
		assert.Equal(w.t, "200m", string(usage.Usage.CPU))
		silent.Store(true)
		time.Sleep(3 * period)
		assert.Contains(w.t, w.get("vm").Status.Reason, "the engine is busy")
		silent.Store(false)
		time.Sleep(3 * time.Minute)
		assert.Equal(w.t, usage, w.get("vm").Status.Server)
		assert.Empty(w.t, w.get("vm").Status.Reason)
		assert.Equal(w.t, "Active", w.phase("vm"))
	})
}

// A driver that hangs over one machine holds one worker until the time-out; all other machines
// continue.
func TestADriverThatHangs(t *testing.T) {
	inBubble(t, func(w *world) {
		var healed atomic.Bool
		p := w.start(flawed(func(ctx context.Context, _, name string) error {
			if strings.HasPrefix(name, "stuck") && !healed.Load() {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}), func(config *virtualmachine.Config) {
			config.Worker.Workers = 2
			config.DriverTimeout = 20 * time.Second
		})
		w.create("stuck")
		for _, name := range []string{"a", "b", "c"} {
			w.createAndWait(name)
			assert.Equal(w.t, "Active", w.phase(name))
		}
		time.Sleep(time.Minute)
		assert.Equal(w.t, "Failed", w.phase("stuck"))
		assert.Equal(w.t, "it is not known whether the server exists: the driver did not answer in time",
			w.get("stuck").Status.Reason)
		assert.Contains(w.t, told(p, &p.events), "stuck Warning FailedIsServerExist: "+w.get("stuck").Status.Reason)
		healed.Store(true)
		time.Sleep(2 * time.Minute)
		assert.Equal(w.t, "Active", w.phase("stuck"))
	})
}

// An engine that does not answer: a running machine stays Active with the reason.
func TestAnEngineThatIsDown(t *testing.T) {
	inBubble(t, func(w *world) {
		var down atomic.Bool
		p := w.start(flawed(func(context.Context, string, string) error {
			if down.Load() {
				return errors.New("cannot connect to the engine")
			}
			return nil
		}))
		w.createAndWait("a")
		down.Store(true)
		time.Sleep(time.Minute)
		assert.Equal(w.t, "Active", w.phase("a"))
		assert.Equal(w.t, "the state of the server is not known: cannot connect to the engine",
			w.get("a").Status.Reason)
		assert.Contains(w.t, told(p, &p.events), "a Warning FailedGetServerStatus: "+w.get("a").Status.Reason)
		w.resize("a", "8G")
		time.Sleep(time.Second)
		assert.Equal(w.t, "Failed", w.phase("a"), "the machine of the old spec could not be deleted")
		down.Store(false)
		time.Sleep(2 * time.Minute)
		assert.Equal(w.t, "Active", w.phase("a"))
		assert.Empty(w.t, w.get("a").Status.Reason)
		assert.Len(w.t, w.driver.Names(), 1)
	})
}

// A machine that ends, or that another party deletes, is reported and created again.
func TestAMachineThatIsLost(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.start(withAnswers(func(_ string, stored *machine, err error) (*machine, error) {
			if err == nil && stored.Status.Phase == virtualmachine.VirtualMachineFailed {
				assert.Empty(w.t, stored.Status.Server, "a machine that has ended has no ID and no usage")
			}
			return stored, err
		}))
		vm := w.createAndWait("a")
		w.driver.End("a-"+vm.UID, "out of memory")
		time.Sleep(period)
		assert.Equal(w.t, "Active", w.phase("a"))
		assert.Equal(w.t, "memory-2", w.get("a").Status.Server.ID)
		require.NoError(w.t, w.driver.DeleteServer(w.t.Context(), "a-"+vm.UID))
		time.Sleep(period)
		assert.Equal(w.t, "memory-3", w.get("a").Status.Server.ID)
		assert.Equal(w.t, []string{"a: Pending", "a: Active", "a: Failed", "a: Active", "a: Failed", "a: Active"},
			told(p, &p.phases))
		events := told(p, &p.events)
		assert.Contains(w.t, events, "a Warning ServerLost: the server has ended: out of memory")
		assert.Contains(w.t, events, "a Warning ServerLost: the server has ended: it does not exist")
	})
}

// answers is called with each write of a controller before it is made, and then with the server's
// answer.
type answers func(call string, vm *machine, err error) (*machine, error)

// withAnswers changes the server's answers to a controller.
func withAnswers(answer answers) func(*virtualmachine.Config) {
	return func(config *virtualmachine.Config) {
		config.Client = writes{config.Client, func(call string, vm *machine, do write) (*machine, error) {
			if _, err := answer(call, vm, nil); err != nil {
				return nil, err
			}
			stored, err := do()
			return answer(call, stored, err)
		}}
	}
}

// Without the right to write, nothing is created outside, and every pass reports the reason.
func TestRightsThatAreMissing(t *testing.T) {
	for _, missing := range []string{"Update", "UpdateStatus"} {
		inBubble(t, func(w *world) {
			var granted atomic.Bool
			p := w.start(withAnswers(func(call string, stored *machine, err error) (*machine, error) {
				if call == missing && !granted.Load() {
					return nil, api.NewStatusError(api.Status{Code: 403, Reason: api.ReasonForbidden,
						Message: "cannot " + call})
				}
				return stored, err
			}))
			w.create("a")
			time.Sleep(time.Minute)
			assert.Empty(w.t, w.driver.Names())
			events := told(p, &p.events)
			require.NotEmpty(w.t, events)
			assert.Regexp(w.t, "^a Warning FailedSync: .*: cannot "+missing, events[0])
			if missing == "Update" { // without the other right the status cannot be written
				assert.Equal(w.t, "the finalizer cannot be written: cannot Update", w.get("a").Status.Reason)
			}
			granted.Store(true)
			time.Sleep(2 * time.Minute)
			assert.Equal(w.t, "Active", w.phase("a"))
			assert.Empty(w.t, w.get("a").Status.Reason)

			granted.Store(false)
			w.delete("a")
			time.Sleep(time.Minute)
			require.NotNil(w.t, w.get("a"))
			if missing == "Update" {
				assert.Equal(w.t, "the finalizer cannot be removed: cannot Update", w.get("a").Status.Reason)
			}
			granted.Store(true)
			time.Sleep(2 * time.Minute)
			assert.Nil(w.t, w.get("a"))
		})
	}
}

// A resource that drops the status would make the controller repeat the first step forever.
func TestAResourceThatDropsTheStatus(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.start(withAnswers(func(call string, stored *machine, err error) (*machine, error) {
			if stored != nil && call == "UpdateStatus" {
				stored = stored.DeepCopy()
				stored.Status = virtualmachine.VirtualMachineStatus{}
			}
			return stored, err
		}))
		w.createAndWait("a")
		assert.EqualError(w.t, told(p, &p.errors)[0],
			"the server has not stored the phase Pending: its resource is not that of crd.yaml")
	})
}

// Another party may remove the finalizer while the machine is deleted: then the object is gone
// and the pass succeeds.
func TestAnObjectThatIsDeletedMeanwhile(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.start(flawed(func(_ context.Context, call, _ string) error {
			if call == "DeleteServer" {
				vm := w.get("a")
				vm.Finalizers = nil
				_, err := w.user.Update(w.t.Context(), vm, api.UpdateOptions{})
				require.NoError(w.t, err)
			}
			return nil
		}))
		w.createAndWait("a")
		w.deleteAndWait("a")
		assert.Nil(w.t, w.get("a"))
		assert.Empty(w.t, w.driver.Names())
		assert.Empty(w.t, told(p, &p.errors), "an object that has gone while its machine was deleted is a success")
	})
}

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
