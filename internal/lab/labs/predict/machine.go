package predict

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"orrery/deltafifo"
	vms "orrery/examples/virtualmachine"
	"orrery/examples/virtualmachine/driver"
	"orrery/examples/worker"
	"orrery/internal/lab/apiserver"
	"orrery/restclient"
	"orrery/restclient/api"
)

// newMachine is the interpreter for examples/virtualmachine/controller.go: one object, on the API
// server in memory, and the machines of its driver.
func newMachine(ctx context.Context) commands {
	w := &machineWorld{}
	failed := w.start(ctx)
	name := "testvm"
	return commands{
		"create": func(...string) (string, error) {
			if failed != nil {
				return "", failed
			}
			vm := &vms.VirtualMachine{TypeMeta: api.TypeMeta{APIVersion: "cloudnative.tw/v1alpha1", Kind: vms.Kind}}
			vm.Name, vm.Namespace, vm.Spec.Resource = name, "default", vms.ResourceList{CPU: "2", Memory: `"4G"`}
			_, err := w.objects.Create(ctx, vm, api.UpdateOptions{})
			return "", err
		},
		"delete": func(...string) (string, error) {
			return "", w.objects.Delete(ctx, name, api.DeleteOptions{})
		},
		// a controller starts, finds the object in its cache, makes a pass, and stops
		"controller": func(...string) (string, error) { return "", w.work(ctx, name, "") },
		// the same, but it is killed right after a call
		"controller-killed-after CALL": func(args ...string) (string, error) { return "", w.work(ctx, name, args[0]) },
		// a client adds a finalizer and changes the phase, and writes both with UpdateStatus
		"write-status-with-finalizer PHASE": func(args ...string) (string, error) {
			vm, err := w.objects.Get(ctx, name, api.GetOptions{})
			if err != nil {
				return "", err
			}
			vm.Finalizers, vm.Status.Phase = append(vm.Finalizers, "example.com/mine"), vms.VirtualMachinePhase(args[0])
			_, err = w.objects.UpdateStatus(ctx, vm, api.UpdateOptions{})
			return "", err
		},
		// the writes of all controllers
		"calls": func(...string) (string, error) { return list(w.calls, " "), nil },
		"stored": func(...string) (string, error) {
			vm, err := w.objects.Get(ctx, name, api.GetOptions{})
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("finalizers: %s; phase: %s", list(vm.Finalizers, " "), vm.Status.Phase), nil
		},
		"left": func(...string) (string, error) {
			found, err := w.objects.List(ctx, api.ListOptions{})
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("objects: %d, machines: %d", len(found.Items), len(w.machines.Names())), nil
		},
	}
}

// machineWorld is what the controllers of a script share.
type machineWorld struct {
	objects  *restclient.Resource[*vms.VirtualMachine]
	machines driver.Memory

	mu     sync.Mutex // guards the fields below
	calls  []string
	last   string // the call after which the controller is killed
	killed bool
}

// start starts the server, which ends with ctx, and defines the type.
func (w *machineWorld) start(ctx context.Context) error {
	server, err := apiserver.New(apiserver.Config{Unprotected: true, NoKubelet: true, NoCollector: true})
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = server.Stop(ctx) }) // ctx has ended: requests in flight are cut
	if err := server.Start(ctx); err != nil {
		return err
	}
	client, err := restclient.New(restclient.Config{Host: server.URL()})
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, client.Close)
	w.objects = restclient.Typed[*vms.VirtualMachine](client, vms.Resource, "default")
	var crd map[string]any
	if err := yaml.NewDecoder(bytes.NewReader(vms.CustomResourceDefinition)).Decode(&crd); err != nil {
		return err
	}
	definitions := api.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	_, err = restclient.Dynamic(client, definitions, "").Create(ctx, &api.Unstructured{Object: crd}, api.UpdateOptions{})
	return errors.Join(err, await(ctx, func() bool {
		_, err := w.objects.List(ctx, api.ListOptions{})
		return err == nil
	}))
}

// work runs a controller, which finds the object in its cache, for one pass.
func (w *machineWorld) work(ctx context.Context, name, last string) error {
	vm, err := w.objects.Get(ctx, name, api.GetOptions{})
	if api.IsNotFound(err) {
		return nil // it would find nothing to do
	}
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.last, w.killed = last, false
	w.mu.Unlock()

	cache, queue := scripted[*vms.VirtualMachine]()
	done := make(chan struct{}, 1) // a pass is done
	controller, err := vms.NewController(vms.Config{
		Machines: cache, Client: recordedClient{w}, Driver: recordedDriver{&w.machines, w},
		Worker: worker.Config{Trace: &worker.Trace{PassDone: func(string, time.Duration, int, time.Duration, error) {
			select {
			case done <- struct{}{}:
			default:
			}
		}}},
	})
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { cache.Run(working) })
	object := deltafifo.Deltas[*vms.VirtualMachine]{{Type: deltafifo.Added, Object: vm}}
	if err := queue.hand(ctx, vm.Namespace+"/"+vm.Name, object); err != nil {
		return err
	}
	// Only now: the controller begins with what is in the cache, and hears of no event later.
	if err := await(ctx, func() bool { return cache.Snapshot().Handlers[0].Pending == 0 }); err != nil {
		return err
	}
	running.Go(func() { controller.RunWithin(working, working) })
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errKilled = errors.New("the controller was killed")

// call makes a call, unless the controller was killed, and records it.
func (w *machineWorld) call(name string, do func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.killed {
		return errKilled
	}
	w.calls = append(w.calls, name)
	err := do()
	if w.killed = name == w.last; w.killed {
		return errKilled
	}
	return err
}

// recordedClient records the writes of a controller to the API server.
type recordedClient struct{ *machineWorld }

func (c recordedClient) Update(ctx context.Context, vm *vms.VirtualMachine, opts api.UpdateOptions) (stored *vms.VirtualMachine, err error) {
	err = c.call("Update", func() (err error) {
		stored, err = c.objects.Update(ctx, vm, opts)
		return err
	})
	return stored, err
}

func (c recordedClient) UpdateStatus(ctx context.Context, vm *vms.VirtualMachine, opts api.UpdateOptions) (stored *vms.VirtualMachine, err error) {
	err = c.call(fmt.Sprintf("UpdateStatus(%s)", vm.Status.Phase), func() (err error) {
		stored, err = c.objects.UpdateStatus(ctx, vm, opts)
		return err
	})
	return stored, err
}

// recordedDriver records the calls that create and delete machines.
type recordedDriver struct {
	driver.Interface
	*machineWorld
}

func (d recordedDriver) CreateServer(ctx context.Context, request driver.CreateRequest) error {
	return d.call("CreateServer", func() error { return d.Interface.CreateServer(ctx, request) })
}

func (d recordedDriver) DeleteServer(ctx context.Context, name string) error {
	return d.call("DeleteServer", func() error { return d.Interface.DeleteServer(ctx, name) })
}
