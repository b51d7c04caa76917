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

// beforeCall is called before a call of a driver, which is not made if it returns an error.
type beforeCall func(ctx context.Context, call, name string) error

// flawed returns a driver that calls a function before each call, unless it is healed.
func flawed(inner driver.Interface, healed *atomic.Bool, before beforeCall) driver.Interface {
	return driver.Around(inner, func(ctx context.Context, name, server string, call func(context.Context) error) error {
		if !healed.Load() {
			if err := before(ctx, name, server); err != nil {
				return err
			}
		}
		return call(ctx)
	})
}

// startFlawed runs a controller whose driver calls a function before each call, until it is healed.
func (w *world) startFlawed(
	before beforeCall, changes ...func(*virtualmachine.Config),
) (p *process, healed *atomic.Bool) {
	healed = &atomic.Bool{}
	use := func(config *virtualmachine.Config) {
		inner := config.Driver
		if inner == nil {
			inner = w.driver
		}
		config.Driver = flawed(inner, healed, before)
	}
	return w.start(append(changes, use)...), healed
}

// resize changes the requested memory of a machine.
func (w *world) resize(name, memory string) {
	w.t.Helper()
	vm := w.get(name)
	vm.Spec.Resource.Memory = virtualmachine.Quantity(`"` + memory + `"`)
	_, err := w.user.Update(w.t.Context(), vm, api.UpdateOptions{})
	require.NoError(w.t, err)
}

// A spec that the driver refuses: the phase is Failed with the reason, and so is an Event. A
// corrected spec is tried at once.
func TestASpecThatTheDriverRefuses(t *testing.T) {
	inBubble(t, func(w *world) {
		w.driver.Capacity = 1 << 30
		p := w.start()
		w.create("large")
		w.create("fine", func(vm *machine) { vm.Spec.Resource.Memory = `"512Mi"` })
		time.Sleep(20 * time.Minute)
		const why = "the server cannot be created: 4000000000 bytes of memory were asked for, and there are 1073741824"
		assert.Equal(w.t, "Failed", w.phase("large"))
		assert.Equal(w.t, why, w.get("large").Status.Reason)
		assert.Equal(w.t, "Active", w.phase("fine"))
		events := told(p, &p.events)
		assert.Contains(w.t, events, "large Warning InvalidSpec: "+why)
		assert.Equal(w.t, 1, p.passesOf("default/large"), "another pass would fail with the same error")
		assert.Empty(w.t, told(p, &p.errors))
		assert.Len(w.t, w.driver.Names(), 1)
		w.resize("large", "1Gi")
		time.Sleep(time.Second)
		assert.Equal(w.t, "Active", w.phase("large"))
		assert.Empty(w.t, w.get("large").Status.Reason)
	})
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

// Sizes that the schema accepts and a machine cannot have.
func TestASpecThatIsNoSize(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.start()
		w.create("none", func(vm *machine) { vm.Spec.Resource.Memory = `"0"` })
		w.createAndWait("nothing", func(vm *machine) { vm.Spec.Resource.CPU = `"0"` })
		assert.Equal(w.t, "Failed", w.phase("none"))
		assert.Equal(w.t, `spec.resource.memory cannot be used: "0" is out of range`, w.get("none").Status.Reason)
		assert.Equal(w.t, `spec.resource.cpu cannot be used: "0" is out of range`, w.get("nothing").Status.Reason)
		assert.Contains(w.t, told(p, &p.events),
			`none Warning InvalidSpec: spec.resource.memory cannot be used: "0" is out of range`)
		w.deleteAndWait("none")
		assert.Nil(w.t, w.get("none"))
	})
}

// A driver that hangs over one machine holds one worker until the time-out; all other machines
// continue.
func TestADriverThatHangs(t *testing.T) {
	inBubble(t, func(w *world) {
		p, healed := w.startFlawed(func(ctx context.Context, _, name string) error {
			if strings.HasPrefix(name, "stuck") {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}, func(config *virtualmachine.Config) {
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

// An engine that does not answer: a running machine stays Active with the reason; a deleted one
// stays until it can be deleted.
func TestAnEngineThatIsDown(t *testing.T) {
	inBubble(t, func(w *world) {
		down := errors.New("cannot connect to the engine")
		p, healed := w.startFlawed(func(context.Context, string, string) error { return down })
		healed.Store(true)
		w.create("a")
		w.createAndWait("b")
		healed.Store(false)
		time.Sleep(period)
		w.delete("b")
		time.Sleep(time.Minute)
		assert.Equal(w.t, "Active", w.phase("a"))
		assert.Equal(w.t, "the state of the server is not known: cannot connect to the engine",
			w.get("a").Status.Reason)
		assert.Equal(w.t, "Terminating", w.phase("b"))
		assert.Equal(w.t, "the server cannot be deleted: cannot connect to the engine", w.get("b").Status.Reason)
		assert.Contains(w.t, told(p, &p.events),
			"b Warning FailedDeleteServer: the server cannot be deleted: cannot connect to the engine")
		assert.Len(w.t, w.driver.Names(), 2)
		w.resize("a", "8G")
		time.Sleep(time.Second)
		assert.Equal(w.t, "Failed", w.phase("a"), "the machine of the old spec could not be deleted")
		assert.Positive(w.t, p.failuresOf("default/a"))
		healed.Store(true)
		time.Sleep(2 * time.Minute)
		assert.Zero(w.t, p.failuresOf("default/a"), "the next failure is a first one")
		assert.Equal(w.t, "Active", w.phase("a"))
		assert.Empty(w.t, w.get("a").Status.Reason)
		assert.Nil(w.t, w.get("b"))
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

// The CustomResourceDefinition is deleted while the controller runs: all machines go, then the
// definition. The controller works again when the definition is back.
func TestTheDefinitionIsDeleted(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.start()
		w.create("a")
		w.createAndWait("b")
		const definition = definitions + "/virtualmachines.cloudnative.tw"
		w.Must("DELETE", definition, "")
		time.Sleep(time.Minute)
		assert.Empty(w.t, w.driver.Names())
		_, err := w.Request("GET", definition, "")
		assert.True(w.t, api.IsNotFound(err), "the definition has gone: %v", err)
		passes := p.passesOf("default/a")
		time.Sleep(10 * time.Minute)
		assert.Equal(w.t, passes, p.passesOf("default/a"), "no pass for deleted objects")
		w.define()
		time.Sleep(5 * time.Minute)
		w.createAndWait("a")
		assert.Equal(w.t, "Active", w.phase("a"))
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
		p, _ := w.startFlawed(func(_ context.Context, call, _ string) error {
			if call == "DeleteServer" {
				vm := w.get("a")
				vm.Finalizers = nil
				_, err := w.user.Update(w.t.Context(), vm, api.UpdateOptions{})
				require.NoError(w.t, err)
			}
			return nil
		})
		w.createAndWait("a")
		w.deleteAndWait("a")
		assert.Nil(w.t, w.get("a"))
		assert.Empty(w.t, w.driver.Names())
		assert.Empty(w.t, told(p, &p.errors), "an object that has gone while its machine was deleted is a success")
	})
}

// stale is a collection frozen until the watch ends: the view of a controller that was started on
// an API server that lags behind.
type stale struct {
	informer.ListerWatcher[*machine]
	list *api.List[*machine]
}

func (s *stale) List(ctx context.Context, opts api.ListOptions) (*api.List[*machine], error) {
	if s.list == nil {
		return s.ListerWatcher.List(ctx, opts)
	}
	return s.list, nil
}

func (s *stale) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[*machine], error) {
	if s.list != nil {
		wait.Sleep(ctx, time.Minute)
		s.list = nil
		return nil, api.NewStatusError(api.Status{Code: 410, Reason: api.ReasonExpired})
	}
	return s.ListerWatcher.Watch(ctx, opts)
}

// A stale cache creates no machine: the object it shows was deleted long ago, together with its
// machine.
func TestACacheThatIsBehind(t *testing.T) {
	inBubble(t, func(w *world) {
		first, healed := w.startFlawed(func(context.Context, string, string) error { return errors.New("not yet") })
		w.createAndWait("a")
		old, err := w.user.List(w.t.Context(), api.ListOptions{})
		require.NoError(w.t, err)
		require.Equal(w.t, virtualmachine.VirtualMachineFailed, old.Items[0].Status.Phase)
		healed.Store(true)
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
			machines := config.Client.(*restclient.Resource[*machine])
			config.Machines = informer.NewSharedIndexInformer(&stale{machines, old}, informer.Config[*machine]{})
		})
		time.Sleep(10 * time.Minute)
		assert.Zero(w.t, created, "no machine may be created for an object that only the cache has")
		assert.Positive(w.t, p.passesOf("default/a"), "it has tried")
		assert.Empty(w.t, told(p, &p.events), "a stale cache is not reported")
	})
}
