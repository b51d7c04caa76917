package chaos

import (
	"context"
	"slices"
	"sync"
	"time"

	"orrery/cmd/orrery/controllers"
	"orrery/controller"
	"orrery/controller/gears"
	"orrery/controller/manager"
	"orrery/examples/secondparty"
	"orrery/examples/virtualmachine"
	"orrery/nsctl"
	nsctlfast "orrery/nsctl/fast"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// managed is the controller manager with all controllers, and a supervisor that restarts it if it
// cannot start.
type managed struct {
	world  *world
	client *restclient.Client
	plan   ProcessPlan
	gears  gears.Set
	chosen []manager.Descriptor
	alive  context.Context
	kill   context.CancelFunc // ends it immediately

	mu      sync.Mutex
	manager *manager.Manager // nil before the first
}

func newManaged(w *world, client *restclient.Client, p ProcessPlan) (*managed, error) {
	set, err := gears.Parse(p.Gears)
	if err != nil {
		return nil, err
	}
	chosen := append(controllers.Descriptors(controllers.Options{}), examples(w.outside)...)
	m := &managed{world: w, client: client, plan: p, gears: set}
	m.chosen = slices.DeleteFunc(chosen, func(d manager.Descriptor) bool { return d.Name == w.sabotage.without })
	m.alive, m.kill = context.WithCancel(context.Background())
	return m, nil
}

// examples describes the controllers that have programs of their own.
func examples(o *outside) []manager.Descriptor {
	return []manager.Descriptor{{
		Name: "virtualmachine",
		New: func(c manager.ControllerContext) (manager.Controller, error) {
			head := func(vm *virtualmachine.VirtualMachine) *api.ObjectMeta { return &vm.ObjectMeta }
			return virtualmachine.NewController(virtualmachine.Config{
				Machines: manager.InformerFor(c, virtualmachine.Resource, head),
				Client:   restclient.Typed[*virtualmachine.VirtualMachine](c.Client, virtualmachine.Resource, ""),
				Driver:   &o.machines, Worker: c.WorkerConfig("virtualmachine"),
			})
		},
	}, {
		Name: "second-party-controller", Needs: []api.GroupVersionResource{api.NamespacesResource},
		New: func(c manager.ControllerContext) (manager.Controller, error) {
			storage, err := secondparty.OpenStorage(o.directory)
			if err != nil {
				return nil, err
			}
			head := func(ns *api.Namespace) *api.ObjectMeta { return &ns.ObjectMeta }
			namespaces := restclient.Typed[*api.Namespace](c.Client, api.NamespacesResource, "")
			newDeleter := gears.Choose(c.Gears, "nsctl", nsctlfast.NewDeleter, nsctl.NewDeleter)
			return nsctl.NewController(nsctl.Config{
				Informer: manager.InformerFor(c, api.NamespacesResource, head),
				Deleter:  newDeleter(secondparty.DeleterConfig(namespaces, storage)),
				Pool:     controller.PoolConfig{Name: "second-party", NewQueue: c.Gears.NewQueue},
			})
		},
	}}
}

// run runs the manager until ctx ends.
func (m *managed) run(ctx context.Context) {
	defer m.kill()
	for ctx.Err() == nil && m.try(ctx) != nil {
		_ = wait.Sleep(ctx, 5*time.Second) // the loop looks whether ctx has ended
	}
}

// try runs the program once, as "orrery run" does.
func (m *managed) try(ctx context.Context) error {
	manager := manager.NewManager(manager.Shared{
		Client: m.client, QPS: m.plan.QPS, Gears: m.gears, Events: true,
		Lead: func(_ context.Context, work func(alive context.Context)) error {
			work(m.alive)
			return nil
		},
	}, m.chosen)
	m.mu.Lock()
	m.manager = manager
	m.mu.Unlock()
	return manager.Run(ctx)
}

// states returns the state of each controller, as reported by the manager.
func (m *managed) states() []manager.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.manager.Snapshot()
}
