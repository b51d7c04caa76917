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
	"orrery/informer"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// flawed is a driver that does something before each call, until it is healed.
type flawed struct {
	driver.Interface
	before func(ctx context.Context, call, name string) error
	healed atomic.Bool
}

func (f *flawed) call(ctx context.Context, call, name string, do func() error) error {
	if !f.healed.Load() {
		if err := f.before(ctx, call, name); err != nil {
			return err
		}
	}
	return do()
}

func (f *flawed) CreateServer(ctx context.Context, request driver.CreateRequest) error {
	return f.call(ctx, "CreateServer", request.Name, func() error { return f.Interface.CreateServer(ctx, request) })
}

func (f *flawed) DeleteServer(ctx context.Context, name string) error {
	return f.call(ctx, "DeleteServer", name, func() error { return f.Interface.DeleteServer(ctx, name) })
}

func (f *flawed) IsServerExist(ctx context.Context, name string) (exists bool, err error) {
	err = f.call(ctx, "IsServerExist", name, func() error { exists, err = f.Interface.IsServerExist(ctx, name); return err })
	return exists, err
}

func (f *flawed) GetServerStatus(ctx context.Context, name string) (status driver.Status, err error) {
	err = f.call(ctx, "GetServerStatus", name, func() error { status, err = f.Interface.GetServerStatus(ctx, name); return err })
	return status, err
}

// startFlawed runs a controller whose driver does something before each call.
func (w *world) startFlawed(before func(ctx context.Context, call, name string) error, changes ...func(*virtualmachine.Config)) (*process, *flawed) {
	f := &flawed{Interface: w.driver, before: before}
	return w.start(append(changes, func(config *virtualmachine.Config) { config.Driver = f })...), f
}

// resize changes the memory that a machine is to have.
func (w *world) resize(name, memory string) {
	w.t.Helper()
	vm := w.get(name)
	vm.Spec.Resource.Memory = virtualmachine.Quantity(`"` + memory + `"`)
	_, err := w.user.Update(w.t.Context(), vm, api.UpdateOptions{})
	require.NoError(w.t, err)
}

// A spec that the driver refuses: the phase is Failed and says why, and so does an Event. A better
// spec is tried at once.
func TestASpecThatTheDriverRefuses(t *testing.T) {
	inBubble(t, func(w *world) {
		w.driver.Capacity = 1 << 30
		p := w.start()
		w.create("large")
		w.create("fine", func(vm *virtualmachine.VirtualMachine) { vm.Spec.Resource.Memory = `"512Mi"` })
		time.Sleep(20 * time.Minute)
		const why = "CreateServer: refused: 4000000000 bytes of memory were asked for, and there are 1073741824"
		assert.Equal(w.t, "Failed", w.phase("large"))
		assert.Equal(w.t, why, w.get("large").Status.Reason)
		assert.Equal(w.t, "Active", w.phase("fine"))
		events := told(p, &p.events)
		assert.Contains(w.t, events, "large Warning FailedCreateServer: "+why)
		assert.InDelta(w.t, 10+20, p.passesOf("default/large"), 5, "the back-off grows to a minute")
		assert.Len(w.t, w.driver.Names(), 1)
		w.resize("large", "1Gi")
		time.Sleep(time.Second)
		assert.Equal(w.t, "Active", w.phase("large"))
		assert.Empty(w.t, w.get("large").Status.Reason)
	})
}

// What the schema lets through and is no size of a machine all the same.
func TestASpecThatIsNoSize(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.start()
		w.create("none", func(vm *virtualmachine.VirtualMachine) { vm.Spec.Resource.Memory = `"0"` })
		w.create("nothing", func(vm *virtualmachine.VirtualMachine) { vm.Spec.Resource.CPU = `"0"` })
		time.Sleep(time.Second)
		assert.Equal(w.t, "Failed", w.phase("none"))
		assert.Equal(w.t, `the spec is invalid: memory: "0" is out of range`, w.get("none").Status.Reason)
		assert.Equal(w.t, `the spec is invalid: cpu: "0" is out of range`, w.get("nothing").Status.Reason)
		assert.Contains(w.t, told(p, &p.events), `none Warning InvalidSpec: the spec is invalid: memory: "0" is out of range`)
		w.delete("none")
		time.Sleep(time.Second)
		assert.Nil(w.t, w.get("none"))
	})
}

// A driver that hangs over one machine holds one worker until the time-out; all other machines go
// on.
func TestADriverThatHangs(t *testing.T) {
	inBubble(t, func(w *world) {
		p, f := w.startFlawed(func(ctx context.Context, _, name string) error {
			if strings.HasPrefix(name, "stuck") {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}, func(config *virtualmachine.Config) { config.Workers = 2; config.DriverTimeout = 20 * time.Second })
		w.create("stuck")
		for _, name := range []string{"a", "b", "c"} {
			w.create(name)
			time.Sleep(time.Second)
			assert.Equal(w.t, "Active", w.phase(name))
		}
		time.Sleep(time.Minute)
		assert.Equal(w.t, "Failed", w.phase("stuck"))
		assert.Equal(w.t, "IsServerExist: the driver did not answer in time: context deadline exceeded", w.get("stuck").Status.Reason)
		assert.Contains(w.t, told(p, &p.events), "stuck Warning FailedIsServerExist: "+w.get("stuck").Status.Reason)
		f.healed.Store(true)
		time.Sleep(2 * time.Minute)
		assert.Equal(w.t, "Active", w.phase("stuck"))
	})
}

// An engine that does not answer: what runs stays Active and says what is wrong; what is deleted
// stays until it can be deleted.
func TestAnEngineThatIsDown(t *testing.T) {
	inBubble(t, func(w *world) {
		down := errors.New("cannot connect to the engine")
		p, f := w.startFlawed(func(context.Context, string, string) error { return down })
		f.healed.Store(true)
		w.create("a")
		w.create("b")
		time.Sleep(time.Second)
		f.healed.Store(false)
		time.Sleep(period)
		w.delete("b")
		time.Sleep(time.Minute)
		assert.Equal(w.t, "Active", w.phase("a"))
		assert.Equal(w.t, "GetServerStatus: cannot connect to the engine", w.get("a").Status.Reason)
		assert.Equal(w.t, "Terminating", w.phase("b"))
		assert.Equal(w.t, "DeleteServer: cannot connect to the engine", w.get("b").Status.Reason)
		assert.Contains(w.t, told(p, &p.events), "b Warning FailedDeleteServer: DeleteServer: cannot connect to the engine")
		assert.Len(w.t, w.driver.Names(), 2)
		w.resize("a", "8G")
		time.Sleep(time.Second)
		assert.Equal(w.t, "Failed", w.phase("a"), "the machine of the old spec could not be deleted")
		assert.Positive(w.t, p.failuresOf("default/a"))
		f.healed.Store(true)
		time.Sleep(2 * time.Minute)
		assert.Zero(w.t, p.failuresOf("default/a"), "the next failure is a first one")
		assert.Equal(w.t, "Active", w.phase("a"))
		assert.Empty(w.t, w.get("a").Status.Reason)
		assert.Nil(w.t, w.get("b"))
		assert.Len(w.t, w.driver.Names(), 1)
	})
}

// A machine that ends, or that somebody else deletes, is reported and created again.
func TestAMachineThatIsLost(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.start()
		vm := w.create("a")
		time.Sleep(time.Second)
		w.driver.End("a-"+vm.UID, "out of memory")
		time.Sleep(period)
		assert.Equal(w.t, "Active", w.phase("a"))
		assert.Equal(w.t, "memory-2", w.get("a").Status.Server.ID)
		require.NoError(w.t, w.driver.DeleteServer(w.t.Context(), "a-"+vm.UID))
		time.Sleep(period)
		assert.Equal(w.t, "memory-3", w.get("a").Status.Server.ID)
		assert.Equal(w.t, []string{"a: Pending", "a: Active", "a: Failed", "a: Active", "a: Failed", "a: Active"}, told(p, &p.phases))
		events := told(p, &p.events)
		assert.Contains(w.t, events, "a Warning ServerLost: the server has ended: out of memory")
		assert.Contains(w.t, events, "a Warning ServerLost: the server has ended: it does not exist")
	})
}

// The CustomResourceDefinition is deleted under the controller: all machines go, then the
// definition. The controller works again when it is back.
func TestTheDefinitionIsDeleted(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.start()
		w.create("a")
		w.create("b")
		time.Sleep(time.Second)
		crds := restclient.Dynamic(w.wire.Client(), definitions, "")
		require.NoError(w.t, crds.Delete(w.t.Context(), "virtualmachines.cloudnative.tw", api.DeleteOptions{}))
		time.Sleep(time.Minute)
		assert.Empty(w.t, w.driver.Names())
		_, err := crds.Get(w.t.Context(), "virtualmachines.cloudnative.tw", api.GetOptions{})
		assert.True(w.t, api.IsNotFound(err), "the definition has gone: %v", err)
		passes := p.passesOf("default/a")
		time.Sleep(10 * time.Minute)
		assert.Equal(w.t, passes, p.passesOf("default/a"), "what is gone is not looked at")
		_, err = crds.Create(w.t.Context(), document(w.t, "crd.yaml"), api.UpdateOptions{})
		require.NoError(w.t, err)
		time.Sleep(5 * time.Minute)
		w.create("a")
		time.Sleep(time.Second)
		assert.Equal(w.t, "Active", w.phase("a"))
	})
}

// clientFunc stands between a controller and the server.
type clientFunc struct {
	virtualmachine.Client
	answer func(call string, stored *virtualmachine.VirtualMachine, err error) (*virtualmachine.VirtualMachine, error)
}

func (c clientFunc) Update(ctx context.Context, vm *virtualmachine.VirtualMachine, opts api.UpdateOptions) (*virtualmachine.VirtualMachine, error) {
	if _, err := c.answer("Update", vm, nil); err != nil {
		return nil, err
	}
	stored, err := c.Client.Update(ctx, vm, opts)
	return c.answer("Update", stored, err)
}

func (c clientFunc) UpdateStatus(ctx context.Context, vm *virtualmachine.VirtualMachine, opts api.UpdateOptions) (*virtualmachine.VirtualMachine, error) {
	if _, err := c.answer("UpdateStatus", vm, nil); err != nil {
		return nil, err
	}
	stored, err := c.Client.UpdateStatus(ctx, vm, opts)
	return c.answer("UpdateStatus", stored, err)
}

// withAnswers changes what the server answers to a controller.
func withAnswers(answer func(call string, stored *virtualmachine.VirtualMachine, err error) (*virtualmachine.VirtualMachine, error)) func(*virtualmachine.Config) {
	return func(config *virtualmachine.Config) { config.Client = clientFunc{config.Client, answer} }
}

// Without the right to write, nothing is created outside, and every pass says why.
func TestRightsThatAreMissing(t *testing.T) {
	for _, missing := range []string{"Update", "UpdateStatus"} {
		inBubble(t, func(w *world) {
			var granted atomic.Bool
			p := w.start(withAnswers(func(call string, stored *virtualmachine.VirtualMachine, err error) (*virtualmachine.VirtualMachine, error) {
				if call == missing && !granted.Load() {
					return nil, api.NewStatusError(api.Status{Code: 403, Reason: api.ReasonForbidden, Message: "cannot " + call})
				}
				return stored, err
			}))
			w.create("a")
			time.Sleep(time.Minute)
			assert.Empty(w.t, w.driver.Names())
			events := told(p, &p.events)
			require.NotEmpty(w.t, events)
			assert.Regexp(w.t, "^a Warning FailedSync: .*: cannot "+missing, events[0])
			granted.Store(true)
			time.Sleep(2 * time.Minute)
			assert.Equal(w.t, "Active", w.phase("a"))
		})
	}
}

// A resource that drops the status would make the controller take the first step for ever.
func TestAResourceThatDropsTheStatus(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.start(withAnswers(func(call string, stored *virtualmachine.VirtualMachine, err error) (*virtualmachine.VirtualMachine, error) {
			if stored != nil && call == "UpdateStatus" {
				stored = stored.DeepCopy()
				stored.Status = virtualmachine.VirtualMachineStatus{}
			}
			return stored, err
		}))
		w.create("a")
		time.Sleep(time.Second)
		assert.EqualError(w.t, told(p, &p.errors)[0], "the server has not stored the phase Pending: its resource is not that of crd.yaml")
	})
}

// Somebody else may remove the finalizer while the machine is deleted: then the object has gone,
// and all is done.
func TestAnObjectThatGoesMeanwhile(t *testing.T) {
	inBubble(t, func(w *world) {
		p, _ := w.startFlawed(func(_ context.Context, call, _ string) error {
			if call == "DeleteServer" {
				vm := w.get("a")
				vm.Finalizers = nil
				_, err := w.user.Update(w.t.Context(), vm, api.UpdateOptions{})
				require.NoError(w.t, err)
			}
			return nil
		})
		w.create("a")
		time.Sleep(time.Second)
		w.delete("a")
		time.Sleep(time.Second)
		assert.Nil(w.t, w.get("a"))
		assert.Empty(w.t, w.driver.Names())
		assert.Empty(w.t, told(p, &p.errors))
	})
}

// stale is a collection as it was, until the watch ends: what a controller sees that was started on
// an API server which lags behind.
type stale struct {
	informer.ListerWatcher[*virtualmachine.VirtualMachine]
	list *api.List[*virtualmachine.VirtualMachine]
}

func (s *stale) List(ctx context.Context, opts api.ListOptions) (*api.List[*virtualmachine.VirtualMachine], error) {
	if s.list == nil {
		return s.ListerWatcher.List(ctx, opts)
	}
	return s.list, nil
}

func (s *stale) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[*virtualmachine.VirtualMachine], error) {
	if s.list != nil {
		wait.Sleep(ctx, time.Minute)
		s.list = nil
		return nil, api.NewStatusError(api.Status{Code: 410, Reason: api.ReasonExpired})
	}
	return s.ListerWatcher.Watch(ctx, opts)
}

// A cache that is behind creates no machine: the object that it shows was deleted long ago,
// together with its machine.
func TestACacheThatIsBehind(t *testing.T) {
	inBubble(t, func(w *world) {
		first, f := w.startFlawed(func(context.Context, string, string) error { return errors.New("not yet") })
		w.create("a")
		time.Sleep(time.Second)
		old, err := w.user.List(w.t.Context(), api.ListOptions{})
		require.NoError(w.t, err)
		require.Equal(w.t, virtualmachine.VirtualMachineFailed, old.Items[0].Status.Phase)
		f.healed.Store(true)
		w.delete("a")
		time.Sleep(time.Minute)
		require.Nil(w.t, w.get("a"))
		first.ended()

		created := 0
		p, _ := w.startFlawed(func(_ context.Context, call, _ string) error {
			if call == "CreateServer" {
				created++
			}
			return nil
		}, func(config *virtualmachine.Config) {
			config.Machines = informer.NewSharedIndexInformer(&stale{config.Client.(*restclient.Resource[*virtualmachine.VirtualMachine]), old},
				informer.Config[*virtualmachine.VirtualMachine]{})
		})
		time.Sleep(10 * time.Minute)
		assert.Zero(w.t, created)
		assert.Positive(w.t, p.passesOf("default/a"), "it has tried")
		assert.Empty(w.t, told(p, &p.events), "that the cache was behind is nothing to tell")
	})
}

// A pass that panics has failed; the other machines go on.
func TestAPassThatPanics(t *testing.T) {
	inBubble(t, func(w *world) {
		p, f := w.startFlawed(func(_ context.Context, _, name string) error {
			if strings.HasPrefix(name, "unlucky") {
				panic("a fault in the driver")
			}
			return nil
		}, func(config *virtualmachine.Config) { config.Workers = 1 })
		w.create("unlucky")
		w.create("fine")
		time.Sleep(time.Second)
		assert.Equal(w.t, "Active", w.phase("fine"))
		var panicked *wait.Panic
		require.ErrorAs(w.t, told(p, &p.errors)[0], &panicked)
		assert.Contains(w.t, string(panicked.Stack), "TestAPassThatPanics")
		f.healed.Store(true)
		time.Sleep(2 * time.Minute)
		assert.Equal(w.t, "Active", w.phase("unlucky"))
	})
}
