package demo

import (
	"context"
	"sync"
	"time"

	"orrery/controller/gears"
	"orrery/informer"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
	"orrery/nsctl"
	nsctlfast "orrery/nsctl/fast"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

// Stage is the controller, the spectators and the script, all connected to one API server. [Open]
// returns one.
type Stage struct {
	// Immutable.
	StageConfig
	script     *restclient.Client
	controller *restclient.Client
	clients    []*restclient.Client // all that end with the stage
	// factories are those of the controller and of the spectators.
	factories []*informer.SharedInformerFactory
	numbers   []int
	stop      context.CancelFunc // of the informers
	halt      context.CancelFunc // of the controller
	slowCtx   context.Context    // of a scene's additions; ends with the controller
	machines  machines           // of the scene with virtual machines
	// configMaps is the informer of the configmaps: the spectators', or that of a scene on a bare stage.
	configMaps *metadataInformer
	gateway    gateway
	// endRecording ends the stage's own recorder.
	endRecording func(reason string)

	running sync.WaitGroup
}

// Options change a stage for a scene.
type Options struct {
	// Bare: there are neither spectators nor a namespace controller. The scene starts what it needs;
	// see [Stage.StartInformer] and [Stage.StartPlain]. Alone: nor is there a server.
	Bare, Alone bool
	// Gated: the scene holds items at gates, with or without a reader of the view.
	Gated bool
	// Unused are the gates at which nothing of the scene arrives. The view does not offer them.
	Unused []gate.ID
	// Reported are further informers whose lists and watches are told, Follow the packages, and single
	// events, that a bare stage tells of its keys.
	Reported, Follow []string
}

// Open creates the CRD and starts spectators and controller; on a bare stage it only makes clients,
// and for Alone not even these. The caller must call Close. Everything also ends with ctx.
func Open(ctx context.Context, config StageConfig, options Options) (*Stage, error) {
	if config.Objects == 0 {
		config.Objects = DefaultObjects
	}
	if config.NewQueue == nil {
		config.NewQueue = config.Gears.NewQueue
	}
	s := &Stage{StageConfig: config, numbers: numbers(config.Objects), endRecording: func(string) {}}
	informersCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	controllerCtx, halt := context.WithCancel(ctx)
	s.stop, s.halt, s.slowCtx = stop, halt, controllerCtx
	if options.Alone {
		return s, nil
	}
	err := s.open(ctx, informersCtx, controllerCtx, options)
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Stage) open(ctx, informersCtx, controllerCtx context.Context, options Options) error {
	if s.Recorder == nil {
		recorder, err := trace.Start(trace.Config{})
		if err != nil {
			return err
		}
		s.Recorder, s.endRecording = recorder, recorder.Stop
	}
	s.Teller.Follow(s.Recorder)
	s.Teller.Update(func(state *story.State) {
		state.Follow = options.Follow
		for _, name := range options.Reported {
			state.Reported[name] = true
		}
	})
	var err error
	if s.script, err = s.newClient(story.Script, s.Server, nil); err != nil {
		return err
	}
	s.Gates.Unused(options.Unused...)
	if options.Bare {
		if s.Gates == nil && options.Gated {
			s.Gates = gate.New(controllerCtx, s.Recorder)
		}
		return nil
	}
	s.Teller.Update(func(state *story.State) {
		state.Namespace.Name, state.Reported["namespaces"] = Namespace, true
		for _, k := range content {
			state.Types = append(state.Types, story.Type{Name: k.resource.Resource})
		}
		state.Enter("setting up", "server, controller and spectators are set up", 0)
	})
	if err := s.define(ctx, definition(), content[theCronTabs].resource); err != nil {
		return err
	}
	s.Tell(story.You, "kubectl create -f crontabs.yaml: a custom resource, so that not every type is built in")
	if err := s.startSpectators(ctx, informersCtx); err != nil {
		return err
	}
	return s.startController(ctx, informersCtx, controllerCtx)
}

// startSpectators starts a metadata-only informer for each type of the content, and waits for their
// first lists.
func (s *Stage) startSpectators(ctx, informersCtx context.Context) error {
	client, err := s.newClient(story.Spectators, s.Server, nil)
	if err != nil {
		return err
	}
	factory := &informer.SharedInformerFactory{}
	for _, k := range content {
		name := k.resource.Resource
		made := newInformer(restclient.Metadata(client, k.resource, Namespace), name, 0, s.StageConfig)
		if _, err := made.AddEventHandlerWithOptions(idle, informer.HandlerOptions{Name: QuickHandler}); err != nil {
			return err
		}
		if name == "configmaps" {
			s.configMaps = made
		}
		informer.InformerFor(factory, name, func(time.Duration) *metadataInformer { return made })
	}
	s.factories = append(s.factories, factory)
	if err := factory.Start(informersCtx); err != nil {
		return err
	}
	if err := factory.WaitForCacheSync(ctx); err != nil {
		return err
	}
	s.Tell(story.Demo, "%d more informers watch the content of %s: the same gears, used only to draw the bars",
		len(content), Namespace)
	return nil
}

// Workers is the number of workers of the namespace controller, as in kube-controller-manager.
const Workers = 10

// startController wires the namespace controller as in "orrery run", with hooks on every gear.
func (s *Stage) startController(ctx, informersCtx, controllerCtx context.Context) error {
	client, err := s.newClient(story.Controller, s.Server, nil)
	if err != nil {
		return err
	}
	s.controller = client
	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	factory := &informer.SharedInformerFactory{}
	namespaceInformer := informer.InformerFor(factory, "namespaces", func(time.Duration) *informer.SharedIndexInformer[*api.Namespace] {
		return newInformer(namespaces, "namespaces", 0, s.StageConfig)
	})
	hooks := s.Recorder.Namespaces()
	newDeleter := gears.Choose(s.Gears, "nsctl", nsctlfast.NewDeleter, nsctl.NewDeleter)
	controller, err := nsctl.NewController(nsctl.Config{
		Informer: namespaceInformer,
		Deleter: newDeleter(gate.HoldDeleter(s.Gates, nsctl.DeleterConfig{
			Namespaces:  namespaces,
			Content:     nsctl.NewContentClient(client),
			Discovery:   discovery.NewCached(discovery.NewWithConfig(client, discovery.Config{OnlyWhenReady: true})),
			Concurrency: typesAtATime,
			Trace:       hooks,
		})),
		Workers:      Workers,
		DrainTimeout: time.Second,
		PassTimeout:  s.StageConfig.passTimeout(),
		NewQueue:     gate.HoldQueue(s.Gates, story.NamespaceQueue, s.NewQueue),
		QueueTrace:   s.Recorder.Queue(story.NamespaceQueue),
		Trace:        hooks,
	})
	if err != nil {
		return err
	}
	if _, err := namespaceInformer.AddEventHandlerWithOptions(viewer{s.Teller}, informer.HandlerOptions{Name: "display"}); err != nil {
		return err
	}
	s.factories = append(s.factories, factory)
	s.Teller.Update(func(state *story.State) { state.Gears.Workers = Workers })
	if err := factory.Start(informersCtx); err != nil {
		return err
	}
	s.running.Go(func() { controller.Run(controllerCtx) })
	if err := factory.WaitForCacheSync(ctx); err != nil {
		return err
	}
	s.Tell(story.Worker, "%d workers wait; the queue is empty", Workers)
	return nil
}

// typesAtATime is the number of types that are emptied in parallel: fewer than in "orrery run", so
// that you can follow.
const typesAtATime = 2

// Close stops the controller and then the informers, whose stores the controller reads until it
// ends, and waits for both.
func (s *Stage) Close() {
	s.halt()
	s.running.Wait()
	s.stop()
	for _, factory := range s.factories {
		factory.Shutdown()
	}
	for _, client := range s.clients {
		client.Close()
	}
	s.endRecording("the scene has ended")
}
