package virtualmachine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"orrery/controller"
	"orrery/controller/gears"
	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/informer"
	"orrery/internal/lab/clustertest"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// period is how often the controllers of the tests read the usage.
const period = 5 * time.Second

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// world is an in-memory API server behind pipes, in a synctest bubble, and servers that outlive
// the controller.
type world struct {
	*clustertest.Cluster
	t      *testing.T
	user   *restclient.Resource[*machine]
	driver *driver.Memory
	gears  gears.Set
	panics bool // a pass has panicked: the next ones say the same
}

// inBubble runs a test in a world with crd.yaml, once for each set of gears.
func inBubble(t *testing.T, test func(w *world)) {
	t.Helper()
	clustertest.WithEachGears(t, func(t *testing.T, set gears.Set) { test(newWorld(t, set)) })
}

type (
	machine = virtualmachine.VirtualMachine
	write   = func() (*machine, error)
)

// writes is a client whose writes go through a function, which makes them with do.
type writes struct {
	virtualmachine.Client
	call func(call string, vm *machine, do write) (*machine, error)
}

func (w writes) Update(ctx context.Context, vm *machine, opts api.UpdateOptions) (*machine, error) {
	return w.call("Update", vm, func() (*machine, error) { return w.Client.Update(ctx, vm, opts) })
}

func (w writes) UpdateStatus(ctx context.Context, vm *machine, opts api.UpdateOptions) (*machine, error) {
	return w.call("UpdateStatus", vm, func() (*machine, error) { return w.Client.UpdateStatus(ctx, vm, opts) })
}

func newWorld(t *testing.T, set gears.Set) *world {
	t.Helper()
	w := &world{Cluster: clustertest.Start(t, clustertest.Bare, nil), t: t, gears: set, driver: &driver.Memory{}}
	w.user = restclient.Typed[*machine](w.Admin(), virtualmachine.Resource, "default")
	w.define()
	time.Sleep(time.Second)
	return w
}

// define creates the CustomResourceDefinition.
func (w *world) define() {
	w.t.Helper()
	object := map[string]any{}
	require.NoError(w.t, yaml.Unmarshal(virtualmachine.CustomResourceDefinition, &object))
	text, err := json.Marshal(object)
	require.NoError(w.t, err)
	w.Must("POST", definitions, string(text))
}

// process is a controller with its own client and informer.
type process struct {
	w         *world
	stop      context.CancelFunc // finishes the passes in progress
	kill      context.CancelFunc // aborts them
	end       context.CancelFunc // ends the informer as well
	done      sync.WaitGroup
	informing sync.WaitGroup
	client    *restclient.Client

	mu     sync.Mutex // guards the controller's reports
	passes map[string]int
	phases []string
	events []string
	errors []error
}

// start runs a controller. Each change is applied to its configuration first.
func (w *world) start(changes ...func(*virtualmachine.Config)) *process {
	w.t.Helper()
	p := &process{w: w, passes: map[string]int{}}
	p.client = w.Client(func(config *restclient.Config) { config.Codec = w.gears.Codec() })
	machines := restclient.Typed[*machine](p.client, virtualmachine.Resource, "")
	config := virtualmachine.Config{
		Machines: informer.NewSharedIndexInformer(machines, informer.Config[*machine]{
			Name: virtualmachine.Resource.Resource, Gears: gears.Informer[*machine](w.gears),
			MutationDetector: informer.MutationDetectorConfig{Enabled: true,
				OnMutation: func(err *informer.MutationError) {
					w.t.Errorf("objects of the store are shared, and only a copy may be changed: %v", err)
				}},
			Transform: informer.StripManagedFields(func(vm *machine) *api.ObjectMeta { return &vm.ObjectMeta }),
		}),
		Client: machines, Driver: w.driver, UsagePeriod: period, Trace: p.trace(),
		Worker: controller.PoolConfig{NewQueue: w.gears.NewQueue, Trace: p.passTrace()},
	}
	for _, change := range changes {
		change(&config)
	}
	config.Client = impatient(w.t, config.Client)
	controller, err := virtualmachine.NewController(config)
	require.NoError(w.t, err)
	stop, stopNow := context.WithCancel(context.Background())
	alive, kill := context.WithCancel(context.Background())
	informers, end := context.WithCancel(context.Background())
	p.stop, p.kill, p.end = stopNow, kill, end
	p.informing.Go(func() { config.Machines.Run(informers) })
	p.done.Go(func() { controller.RunWithin(stop, alive) })
	w.t.Cleanup(p.ended)
	return p
}

// impatient makes a client fail if a controller writes without an end and never waits: the clock of
// a bubble would stand still. It reports a finalizer in an UpdateStatus.
func impatient(t *testing.T, inner virtualmachine.Client) virtualmachine.Client {
	var mu sync.Mutex // guards the variables below
	var at time.Time
	n, told := 0, false
	tooMany := func() bool {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now != at {
			at, n = now, 0
		}
		if n++; n < 200 {
			return false
		}
		if !told {
			told = true
			t.Error("the controller has made 200 writes in no time: " +
				"a step does not change what made syncHandler choose it")
		}
		return true
	}
	return writes{inner, func(call string, vm *machine, do write) (*machine, error) {
		if tooMany() {
			return nil, errors.New("too many writes")
		}
		sent := len(vm.Finalizers)
		stored, err := do()
		if call == "UpdateStatus" && err == nil && len(stored.Finalizers) < sent && vm.Status.Reason == "" {
			t.Error("the finalizer was sent with UpdateStatus, which writes nothing but the status")
		}
		return stored, err
	}}
}

// ended stops the controller and returns when it has ended.
func (p *process) ended() {
	p.stop()
	p.done.Wait()
	p.kill()
	p.end()
	p.informing.Wait()
	p.client.Close()
}

func (p *process) passTrace() *controller.PoolTrace {
	return &controller.PoolTrace{
		PassDone: func(key string, _ time.Duration, _ int, _ time.Duration, err error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.passes[key]++
			if panicked, ok := errors.AsType[*wait.Panic](err); ok && !p.w.panics {
				p.w.panics = true
				p.w.t.Errorf("a pass panicked: %v\n%s", panicked.Value, panicked.Stack)
			}
			if err != nil {
				p.errors = append(p.errors, err)
			}
		},
	}
}

func (p *process) trace() *virtualmachine.Trace {
	note := func(do func()) {
		p.mu.Lock()
		defer p.mu.Unlock()
		do()
	}
	return &virtualmachine.Trace{
		PhaseChanged: func(vm *machine, from virtualmachine.VirtualMachinePhase) {
			note(func() { p.phases = append(p.phases, fmt.Sprintf("%s: %s", vm.Name, vm.Status.Phase)) })
		},
		Event: func(vm *machine, kind api.EventType, reason, message string) {
			note(func() { p.events = append(p.events, fmt.Sprintf("%s %s %s: %s", vm.Name, kind, reason, message)) })
		},
	}
}

// told returns a copy of one of the lists.
func told[T any](p *process, list *[]T) []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]T(nil), *list...)
}

func (p *process) passesOf(key string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passes[key]
}

// create creates an object in the namespace default, of the size in testvm.yaml.
func (w *world) create(name string, changes ...func(*machine)) *machine {
	w.t.Helper()
	vm := &machine{}
	vm.APIVersion, vm.Kind, vm.Name = "cloudnative.tw/v1alpha1", virtualmachine.Kind, name
	vm.Spec.Resource = virtualmachine.ResourceList{CPU: "2", Memory: `"4G"`}
	for _, change := range changes {
		change(vm)
	}
	vm, err := w.user.Create(w.t.Context(), vm, api.UpdateOptions{})
	require.NoError(w.t, err)
	return vm
}

// get returns an object, nil if it is gone.
func (w *world) get(name string) *machine {
	w.t.Helper()
	const path = "/apis/cloudnative.tw/v1alpha1/namespaces/default/virtualmachines/"
	return clustertest.Find[machine](w.Cluster, path+name)
}

func (w *world) delete(name string) {
	w.t.Helper()
	require.NoError(w.t, w.user.Delete(w.t.Context(), name, api.DeleteOptions{}))
}

// createAndWait is create, and gives the controller a second.
func (w *world) createAndWait(name string, changes ...func(*machine)) *machine {
	w.t.Helper()
	defer time.Sleep(time.Second)
	return w.create(name, changes...)
}

// deleteAndWait is delete, and gives the controller a second.
func (w *world) deleteAndWait(name string) {
	w.t.Helper()
	w.delete(name)
	time.Sleep(time.Second)
}

// phase returns the phase of an object, "gone" if it does not exist.
func (w *world) phase(name string) string {
	w.t.Helper()
	if vm := w.get(name); vm != nil {
		return string(vm.Status.Phase)
	}
	return "gone"
}
