package demo

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"orrery/controller"
	"orrery/controller/gears"
	"orrery/examples/virtualmachine/driver"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/lab/apiserver"
	"orrery/internal/observe/trace"
	"orrery/nsctl"
	nsctlfast "orrery/nsctl/fast"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/wait"
)

// Stage is the controller, the spectators and the script of one run of a scene, all connected to
// one API server.
type Stage struct {
	// Immutable once the stage is open.
	Config
	*Teller
	scene  Scene
	server *apiserver.Server // nil: the scene needs none

	Server      restclient.Config
	Credentials map[string]restclient.Credentials // by the name of the user

	script     *restclient.Client
	controller *restclient.Client
	clients    []*restclient.Client // all that end with the stage
	numbers    []int
	working    context.Context // of the controllers
	halt       context.CancelFunc
	informing  context.Context // of the informers, whose stores the controllers read until they end
	stop       context.CancelFunc
	held       bool // a user holds the gears
	// servers are those of the scene with virtual machines. They outlive the controller that creates
	// them, which stopMachines stops.
	servers      driver.Memory
	stopMachines func()
	// configMaps is the informer of the configmaps: the spectators', or that of a scene on a bare
	// stage.
	configMaps *informer.SharedIndexInformer[*api.PartialObjectMetadata]
	answer     atomic.Pointer[http.Response] // of the gateway to the next watch

	controllers, informers sync.WaitGroup
}

// Options change a stage for a scene.
type Options struct {
	// Bare: there are neither spectators nor a namespace controller. The scene starts what it needs;
	// see startInformer and startPlain. Alone: nor is there a server.
	Bare, Alone bool
	// Reported are further informers whose lists and watches are told, Follow the packages, and single
	// events, that a bare stage tells of its keys.
	Reported, Follow []string
}

// Namespace is the name of the namespace of every scene.
const Namespace = "shop"

// The clients' user names, by which faults select them.
const (
	controllerUser = "system:serviceaccount:kube-system:namespace-controller"
	spectatorsUser = "spectators"
	scriptUser     = "script"
)

func newStage(config Config, scene Scene) *Stage {
	config.Objects = cmp.Or(config.Objects, 320)
	if config.Recorder == nil {
		config.Recorder, _ = trace.Start(trace.Config{}) // only a file can fail
	}
	teller := scene.story(config.Lang, config.Recorder)
	s := &Stage{Config: config, Teller: teller, scene: scene, numbers: numbers(config.Objects)}
	s.informing, s.stop = context.WithCancel(context.Background())
	return s
}

// open creates the CRD and starts spectators and controller; on a bare stage it only makes clients,
// and for Alone not even these. The caller must call Close. Everything also ends with ctx.
func (s *Stage) open(ctx context.Context) error {
	options := s.scene.Options
	s.working, s.halt = context.WithCancel(ctx)
	if options.Alone {
		return nil
	}
	var err error
	if s.script, err = s.newClient(scriptUser, s.Server, nil); err != nil {
		return err
	}
	if options.Bare {
		if s.Gates == nil { // the scene may hold items
			s.Gates = NewGates(s.working, s.Recorder)
		}
		return nil
	}
	s.Update(func(state *State) {
		state.Namespace.Name = Namespace
		for _, k := range content {
			state.Types = append(state.Types, Type{Name: k.Resource})
		}
		state.Enter("server, controller and spectators are set up", 0)
	})
	if err := s.define(ctx, file("crontabs.yaml"), content[theCronTabs].gvr()); err != nil {
		return err
	}
	s.Tell(You, "kubectl create -f crontabs.yaml: a custom resource, so that not every type is built in")
	if err := s.startSpectators(ctx); err != nil {
		return err
	}
	return s.startController(ctx)
}

// newClient returns a client of a server, with a trace or nil. The requests of all but the script
// are recorded, too. The client ends with the stage.
func (s *Stage) newClient(
	user string, server restclient.Config, trace *restclient.Trace,
) (*restclient.Client, error) {
	server.Credentials = s.Credentials[user]
	server.QPS = -1
	server.Codec = s.Gears.Codec()
	server.UserAgent = "orrery-demo"
	server.Trace = trace
	if user != scriptUser { // the script is outside of the recorded process
		server.Trace = restclient.JoinTraces(trace, s.Recorder.Requests())
	}
	client, err := restclient.New(server)
	if err == nil {
		s.clients = append(s.clients, client)
	}
	return client, err
}

// startSpectators starts a metadata-only informer for each type of the content, and waits for their
// first lists.
func (s *Stage) startSpectators(ctx context.Context) error {
	client, err := s.newClient(spectatorsUser, s.Server, nil)
	if err != nil {
		return err
	}
	var handlers []informer.Syncer
	for _, k := range content {
		name := k.Resource
		made := newInformer(s, restclient.Metadata(client, k.gvr(), Namespace), name)
		handler, err := made.AddEventHandlerWithOptions(idle, informer.HandlerOptions{Name: QuickHandler})
		if err != nil {
			return err
		}
		if name == "configmaps" {
			s.configMaps = made
		}
		handlers = append(handlers, handler)
		s.informers.Go(func() { _ = made.Run(s.informing) })
	}
	if err := informer.WaitForSync(ctx, handlers...); err != nil {
		return err
	}
	s.Tell(Demo, "%d more informers watch the content of %s: the same gears, used only to draw the bars",
		len(content), Namespace)
	return nil
}

// Workers is the number of workers of the namespace controller, as in kube-controller-manager.
const Workers = 10

// startController wires the namespace controller as in "orrery run", with hooks on every gear.
func (s *Stage) startController(ctx context.Context) error {
	client, err := s.newClient(controllerUser, s.Server, nil)
	if err != nil {
		return err
	}
	s.controller = client
	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	namespaceInformer := newInformer(s, namespaces, "namespaces")
	hooks := s.Recorder.Namespaces()
	newDeleter := gears.Choose(s.Gears, "nsctl", nsctlfast.NewDeleter, nsctl.NewDeleter)
	controller, err := nsctl.NewController(nsctl.Config{
		Informer: namespaceInformer,
		Deleter: newDeleter(nsctl.DeleterConfig{
			Namespaces:  namespaces,
			Content:     nsctl.NewContentClient(client),
			Discovery:   discovery.NewCached(discovery.NewWithConfig(client, discovery.Config{OnlyWhenReady: true})),
			Concurrency: 2, // types at a time: fewer than in "orrery run", so that you can follow
			Trace:       hooks,
		}),
		Pool: controller.PoolConfig{
			Workers:      Workers,
			DrainTimeout: time.Second,
			NewQueue:     HoldQueue(s.Gates, NamespaceQueue, s.Gears.NewQueue),
			QueueTrace:   s.Recorder.Queue(NamespaceQueue),
		},
		Trace: hooks,
	})
	if err != nil {
		return err
	}
	s.Update(func(state *State) { state.Gears.Workers = Workers })
	s.informers.Go(func() { _ = namespaceInformer.Run(s.informing) })
	s.controllers.Go(func() { controller.Run(s.working) })
	if err := informer.WaitForSync(ctx, namespaceInformer); err != nil {
		return err
	}
	s.Tell(Worker, "%d workers wait; the queue is empty", Workers)
	return nil
}

// Close ends the recording, stops the controller and then the informers, whose stores the
// controller reads until it ends, and waits for both.
func (s *Stage) Close() {
	s.Recorder.Stop("the scene has ended")
	if s.halt != nil {
		s.halt()
	}
	s.controllers.Wait()
	s.stop()
	s.informers.Wait()
	for _, client := range s.clients {
		client.Close()
	}
}

// newInformer returns a recorded informer with gates.
func newInformer[T informer.Object](
	s *Stage, resource *restclient.Resource[T], name string,
) *informer.SharedIndexInformer[T] {
	r := s.Recorder
	config := HoldInformer(s.Gates, informer.Config[T]{
		Name: name, Gears: gears.Informer[T](s.Gears),
		Reflector:  reflector.Config[T]{Trace: r.Reflector(name)},
		QueueTrace: trace.FIFO[T](r, name), StoreTrace: r.Store(name), Trace: r.Informer(name),
	})
	return informer.NewSharedIndexInformer(informer.ListerWatcher[T](resource), config)
}

// idle is a handler that does nothing.
var idle = informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{}

// slowness is the slow handler's time per event.
const slowness = 100 * time.Millisecond

// addSlowHandler adds a slow handler to the informer of the configmaps, beside the spectator's.
// Bars show how many events wait for each of the two. It ends with the stage.
func addSlowHandler(on *Stage, _ context.Context) error {
	on.Update(func(state *State) { state.Backlog = []string{SlowHandler, QuickHandler} })
	pause := func() { _ = wait.Sleep(on.working, slowness) }
	slow := informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{
		AddFunc:    func(*api.PartialObjectMetadata, bool) { pause() },
		UpdateFunc: func(_, _ *api.PartialObjectMetadata) { pause() },
		DeleteFunc: func(informer.DeletedObject[*api.PartialObjectMetadata]) { pause() },
	}
	_, err := on.configMaps.AddEventHandlerWithOptions(slow, informer.HandlerOptions{Name: SlowHandler})
	return err
}

// The names of the slow handler and of the one beside it.
const (
	SlowHandler  = "slow handler"
	QuickHandler = "spectator"
)
