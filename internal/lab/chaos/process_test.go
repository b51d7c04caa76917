package chaos

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"orrery/cmd/orrery/controllers"
	"orrery/controller"
	"orrery/controller/gears"
	"orrery/controller/manager"
	"orrery/examples/secondparty"
	"orrery/examples/virtualmachine"
	"orrery/nsctl"
	nsctlfast "orrery/nsctl/fast"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	clientfast "orrery/restclient/fast"
	"orrery/wait"
)

// process is a client with its own link: its informers, and optionally the namespace controller.
type process struct {
	plan     ProcessPlan
	link     *Link
	client   *restclient.Client
	subjects []subject
	holders  *holders          // nil without a controller
	control  *nsctl.Controller // nil without a controller
	passes   *passes
	managed  *managed // nil unless all controllers run in it

	ending atomic.Bool // its end has begun

	stopControl, stopInformers context.CancelFunc
	controlling, informing     sync.WaitGroup
}

func newProcess(w *world, p ProcessPlan) (*process, error) {
	one := &process{plan: p, link: &Link{}}
	config := restclient.Config{
		Host: w.scheme() + "://localhost", Dial: one.link.Dial(w.network.dial),
		TLS:            restclient.TLS{CAData: w.current().CertificateAuthority()},
		Proxy:          func(*http.Request) (*url.URL, error) { return nil, nil },
		QPS:            p.QPS,
		MaxRetryAfter:  10 * time.Second, // as in orrery run
		Timeout:        p.Timeout,
		UserAgent:      "chaos/" + p.Name,
		WatchTransport: p.Watch,
	}
	if !p.Textbook {
		config.Codec = clientfast.Codec{}
	}
	var err error
	if one.client, err = restclient.New(config); err != nil {
		return nil, err
	}
	for _, plan := range p.Informers {
		s, err := newSubject(w, one.client, plan)
		if err != nil {
			return nil, err
		}
		one.subjects = append(one.subjects, s)
	}
	if p.Workers > 0 {
		err = one.addController(w)
	}
	if p.Gears != "" {
		one.managed, err = newManaged(w, one.client, p)
	}
	return one, err
}

// addController wires the namespace controller as "orrery run" does.
func (p *process) addController(w *world) error {
	namespaces := restclient.Typed[*api.Namespace](p.client, api.NamespacesResource, "")
	content := nsctl.NewContentClient(p.client)
	if w.sabotage.content != nil {
		content = w.sabotage.content(content)
	}
	p.holders, p.passes = newHolders(), newPasses(w.fail)
	hooks := p.holders.trace()
	if w.sabotage.queue != nil {
		hooks = w.sabotage.queue(hooks)
	}
	var err error
	p.control, err = nsctl.NewController(nsctl.Config{
		Informer: p.subjects[0].(*watched[*api.Namespace]).SharedIndexInformer,
		Deleter: nsctlfast.NewDeleter(nsctl.DeleterConfig{
			Namespaces: namespaces,
			Content:    content,
			Discovery:  discovery.NewCached(discovery.NewWithConfig(p.client, discovery.Config{OnlyWhenReady: true})),
		}),
		Pool:  controller.PoolConfig{Workers: p.plan.Workers, QueueTrace: hooks},
		Trace: p.passes.trace(),
	})
	return err
}

// start runs everything until stop.
func (p *process) start() {
	var controlCtx, informersCtx context.Context
	informersCtx, p.stopInformers = context.WithCancel(context.Background())
	controlCtx, p.stopControl = context.WithCancel(context.Background())
	for _, s := range p.subjects {
		p.informing.Go(func() { s.run(informersCtx) })
	}
	if p.control != nil {
		p.controlling.Go(func() { p.control.Run(controlCtx) })
	}
	if p.managed != nil {
		p.controlling.Go(func() { p.managed.run(controlCtx) })
	}
}

// stop ends the controller, then the informers, then the connections, as a program does.
func (p *process) stop() {
	p.stopControl()
	p.controlling.Wait()
	p.stopInformers()
	p.informing.Wait()
	p.client.Close()
}

// subjectNamed returns the informer with that name, or nil if another process has it.
func (p *process) subjectNamed(name string) subject {
	for _, s := range p.subjects {
		if s.plan().Name == name {
			return s
		}
	}
	return nil
}

// passes checks with the controller's trace that no namespace is in two passes at the same time.
type passes struct {
	fail func(format string, args ...any)

	mu    sync.Mutex // guards the fields below
	under map[string]bool
	done  int
}

func newPasses(fail func(string, ...any)) *passes {
	return &passes{fail: fail, under: map[string]bool{}}
}

func (p *passes) trace() *nsctl.Trace {
	return &nsctl.Trace{
		PassStarted: func(namespace string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.under[namespace] {
				p.fail("workers: a pass over %s began while another was under way", namespace)
			}
			p.under[namespace] = true
		},
		PassDone: func(namespace string, _ time.Duration, _ int, _ error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.under, namespace)
			p.done++
		},
	}
}

func (p *passes) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

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

// holders checks with a queue's trace that no two workers hold the same key. Hooks of different
// goroutines may run out of order, so they are collected and then checked in the order of their
// numbers when the queue is idle.
type holders struct {
	mu         sync.Mutex // guards the fields below
	events     []held
	processing map[string]uint64 // key -> number of the event with which it was handed out
	wrong      []string
	gets       int
	// counted has the keys whose failures the rate limiter remembers.
	counted map[string]bool
}

// held records that a key was handed out or given back.
type held struct {
	key      string
	number   uint64
	got      bool
	unknown  bool // given back though no worker held it
	received time.Time
}

func newHolders() *holders {
	return &holders{processing: map[string]uint64{}, counted: map[string]bool{}}
}

func (h *holders) trace() *queue.Trace[string] {
	return &queue.Trace[string]{
		Got: func(e queue.Event[string],
			_ time.Duration) {
			h.record(held{key: e.Key, number: e.Seq, got: true})
		},
		Done:        func(e queue.Event[string], _ time.Duration) { h.record(held{key: e.Key, number: e.Seq}) },
		DoneUnknown: func(e queue.Event[string]) { h.record(held{key: e.Key, number: e.Seq, unknown: true}) },
		Retried:     func(key string, _ int, _ time.Duration) { h.count(key, true) },
		Forgotten:   func(key string) { h.count(key, false) },
	}
}

func (h *holders) record(e held) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e.received = time.Now()
	h.events = append(h.events, e)
}

func (h *holders) count(key string, fails bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if fails {
		h.counted[key] = true
	} else {
		delete(h.counted, key)
	}
}

// violations checks the collected events. Call it when the queue is idle.
func (h *holders) violations() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.SortFunc(h.events, func(a, b held) int { return cmp.Compare(a.number, b.number) })
	for _, e := range h.events {
		since, holds := h.processing[e.key]
		switch {
		case e.unknown:
			h.wrong = append(h.wrong, fmt.Sprintf("queue: %s was given back (event %d) though no worker held it", e.key,
				e.number))
		case e.got && holds:
			h.wrong = append(h.wrong,
				fmt.Sprintf("queue: %s was handed out (event %d) though a worker had had it since event %d", e.key,
					e.number, since))
		case e.got:
			h.gets++
			h.processing[e.key] = e.number
		default:
			delete(h.processing, e.key)
		}
	}
	h.events = h.events[:0]
	return slices.Clone(h.wrong)
}

// remembered returns the keys whose failures the rate limiter still counts.
func (h *holders) remembered() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var keys []string
	for key := range h.counted {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
