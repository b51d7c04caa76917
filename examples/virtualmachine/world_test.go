package virtualmachine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/informer"
	"orrery/internal/gears"
	"orrery/internal/lab/apiserver"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

// period is how often the controllers of the tests look at the usage.
const period = 5 * time.Second

var definitions = api.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// world is an API server in memory behind pipes, in a synctest bubble, and servers that outlive the
// controller.
type world struct {
	t      *testing.T
	server *apiserver.Server
	wire   *restclienttest.Server
	user   *restclient.Resource[*virtualmachine.VirtualMachine]
	driver *driver.Memory
	gears  gears.Set
}

// inBubble runs a test in a world that knows crd.yaml, once for each set of gears.
func inBubble(t *testing.T, test func(w *world)) {
	for _, text := range []string{"textbook", "fast"} {
		set, err := gears.Parse(text)
		require.NoError(t, err)
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(newWorld(t, set)) })
		})
	}
}

func newWorld(t *testing.T, set gears.Set) *world {
	t.Helper()
	server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
	require.NoError(t, err)
	wire := restclienttest.NewServer(t, server.Handler())
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })
	client := wire.Client()
	w := &world{
		t: t, server: server, wire: wire, gears: set, driver: &driver.Memory{},
		user: restclient.Typed[*virtualmachine.VirtualMachine](client, virtualmachine.Resource, "default"),
	}
	_, err = restclient.Dynamic(client, definitions, "").Create(t.Context(), document(t, "crd.yaml"), api.UpdateOptions{})
	require.NoError(t, err)
	time.Sleep(time.Second)
	return w
}

// document reads a file of this directory.
func document(t *testing.T, name string) *api.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name))
	require.NoError(t, err)
	object := map[string]any{}
	require.NoError(t, yaml.Unmarshal(text, &object))
	return &api.Unstructured{Object: object}
}

// process is a controller with its own client and informer, as a program that runs.
type process struct {
	w         *world
	stop      context.CancelFunc // it finishes its passes
	kill      context.CancelFunc // it does not
	end       context.CancelFunc // and its informer
	done      sync.WaitGroup
	informing sync.WaitGroup
	client    *restclient.Client

	mu     sync.Mutex // guards what the controller has told
	passes map[string]int
	failed map[string]int // in a row
	phases []string
	events []string
	errors []error
}

// start runs a controller. Each change is applied to its configuration first.
func (w *world) start(changes ...func(*virtualmachine.Config)) *process {
	w.t.Helper()
	p := &process{w: w, passes: map[string]int{}, failed: map[string]int{}}
	p.client = w.wire.Client(func(config *restclient.Config) { config.Codec = w.gears.Codec() })
	machines := restclient.Typed[*virtualmachine.VirtualMachine](p.client, virtualmachine.Resource, "")
	config := virtualmachine.Config{
		Machines: informer.NewSharedIndexInformer(machines, informer.Config[*virtualmachine.VirtualMachine]{
			Name: virtualmachine.Resource.Resource, Gears: gears.Informer[*virtualmachine.VirtualMachine](w.gears),
			Transform: informer.StripManagedFields(func(vm *virtualmachine.VirtualMachine) *api.ObjectMeta { return &vm.ObjectMeta }),
		}),
		Client: machines, Driver: w.driver, UsagePeriod: period, NewQueue: w.gears.NewQueue, Trace: p.trace(),
	}
	for _, change := range changes {
		change(&config)
	}
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

// ended stops the controller and returns when it has ended.
func (p *process) ended() {
	p.stop()
	p.done.Wait()
	p.kill()
	p.end()
	p.informing.Wait()
	p.client.Close()
}

func (p *process) trace() *virtualmachine.Trace {
	note := func(do func()) {
		p.mu.Lock()
		defer p.mu.Unlock()
		do()
	}
	return &virtualmachine.Trace{
		PassDone: func(key string, _ time.Duration, failures int, err error) {
			note(func() {
				p.passes[key]++
				p.failed[key] = failures
				if err != nil {
					p.errors = append(p.errors, err)
				}
			})
		},
		PhaseChanged: func(vm *virtualmachine.VirtualMachine, from virtualmachine.VirtualMachinePhase) {
			note(func() { p.phases = append(p.phases, fmt.Sprintf("%s: %s", vm.Name, vm.Status.Phase)) })
		},
		Event: func(vm *virtualmachine.VirtualMachine, kind api.EventType, reason, message string) {
			note(func() { p.events = append(p.events, fmt.Sprintf("%s %s %s: %s", vm.Name, kind, reason, message)) })
		},
	}
}

// told returns what one of the lists holds by now.
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

func (p *process) failuresOf(key string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed[key]
}

// create makes an object in the namespace default, of the size that testvm.yaml has.
func (w *world) create(name string, changes ...func(*virtualmachine.VirtualMachine)) *virtualmachine.VirtualMachine {
	w.t.Helper()
	vm := &virtualmachine.VirtualMachine{}
	vm.APIVersion, vm.Kind, vm.Name = "cloudnative.tw/v1alpha1", virtualmachine.Kind, name
	vm.Spec.Resource = virtualmachine.ResourceList{
		CPU: "2", Memory: `"4G"`,
	}
	for _, change := range changes {
		change(vm)
	}
	vm, err := w.user.Create(w.t.Context(), vm, api.UpdateOptions{})
	require.NoError(w.t, err)
	return vm
}

// get returns an object, nil if it is gone.
func (w *world) get(name string) *virtualmachine.VirtualMachine {
	w.t.Helper()
	vm, err := w.user.Get(w.t.Context(), name, api.GetOptions{})
	if api.IsNotFound(err) {
		return nil
	}
	require.NoError(w.t, err)
	return vm
}

func (w *world) delete(name string) {
	w.t.Helper()
	require.NoError(w.t, w.user.Delete(w.t.Context(), name, api.DeleteOptions{}))
}

// phase returns the phase of an object, "gone" if it is.
func (w *world) phase(name string) string {
	w.t.Helper()
	if vm := w.get(name); vm != nil {
		return string(vm.Status.Phase)
	}
	return "gone"
}
