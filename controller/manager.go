package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orrery/controller/gears"
	"orrery/controller/rbac"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// Manager has the informers and the controllers of one program. Set it up on one goroutine, with
// [Watch], [New], [Owns], [Manager.Add] and [Manager.Allow]; then call Run.
type Manager struct {
	config   Config
	failures failures

	informers   informer.SharedInformerFactory
	synced      []informer.InformerSynced // of the informers of collections
	controllers []func() (run func(stop, alive context.Context), err error)
	rights      []rbac.Right
	ran         atomic.Bool

	mu     sync.Mutex
	failed []error // guarded by mu; what Run returns
}

// Config is what a manager needs. Client is required; the zero value of everything else works.
type Config struct {
	// Client sends the requests of all informers and collections.
	Client *restclient.Client
	// Gears are the forms of the gears. Default: the fast ones; those of the textbook are there to
	// read and to watch.
	Gears gears.Set
	// Election lets one of several replicas work. Default: every replica works.
	Election Election
	// Lead takes the place of Election, for a program with an election of its own. It calls work
	// while this process may work, and returns when work has returned, or when ctx is done. alive is
	// done when the process must not write any more. Default: nil.
	Lead func(ctx context.Context, work func(alive context.Context)) error
	// Failures is where failed passes, and failed requests of informers and of the election, are
	// written, a line each, and who leads. The same failure is written once a minute at most.
	// Default os.Stderr; io.Discard for none.
	Failures io.Writer
	// DrainTimeout is how long Run may take to finish queued keys and running passes after its
	// context has ended. Default 20 seconds.
	DrainTimeout time.Duration
}

// NewManager returns a manager without controllers.
func NewManager(config Config) *Manager {
	if config.Client == nil {
		panic("controller: Config has no Client")
	}
	if config.Failures == nil {
		config.Failures = os.Stderr
	}
	m := &Manager{config: config}
	m.failures.to = config.Failures
	return m
}

// Config returns the configuration of the manager.
func (m *Manager) Config() Config { return m.config }

// Informers returns the factory of the informers that the manager runs, those of [Watch] and
// others.
func (m *Manager) Informers() *informer.SharedInformerFactory { return &m.informers }

// Add adds a controller that has handlers and a [Pool] of its own. Run calls build before it
// starts the informers, and returns its error. run works until stop is done, then finishes its
// work in progress, and returns; when alive is done, it gives that up at once. See
// [Collection.Informer] and [Manager.PoolConfig].
func (m *Manager) Add(build func() (run func(stop, alive context.Context), err error)) {
	m.controllers = append(m.controllers, build)
}

// PoolConfig returns the configuration of the pool of a controller: the queue and the time limit
// of this manager, and a trace that writes failed passes to Config.Failures, and lets Run return
// those that were cut short.
func (m *Manager) PoolConfig(name string) PoolConfig {
	return PoolConfig{
		Name: name, DrainTimeout: m.config.DrainTimeout, NewQueue: m.config.Gears.NewQueue,
		Trace: &PoolTrace{PassDone: func(key string, _ time.Duration, _ int, _ time.Duration, err error) {
			if err != nil {
				m.failures.report(name+" "+key, err)
			}
			if errors.Is(err, ErrCutShort) {
				m.fail(fmt.Errorf("%s %s: %w", name, key, err))
			}
			if panicked, ok := errors.AsType[*wait.Panic](err); ok {
				m.failures.report(name+" "+key+", the stack", string(panicked.Stack))
			}
		}},
	}
}

// Run starts the informers, and works until ctx is done. Then it finishes queued keys and running
// passes, stops the informers, which passes still read until then, and returns. A collection that
// cannot be listed is no error: Run writes that to Config.Failures, and tries again. A pass that
// was cut short by DrainTimeout is one, [ErrCutShort]. Run may be called once; another call
// returns an error.
//
// With an [Election] it works while this replica is the leader. If it is no longer, passes are
// cancelled at once, and Run returns a [*leaderelection.LostError]: end the process then, and
// start it again. If this replica never led, each run is called with contexts that have ended, to
// release what its build acquired.
func (m *Manager) Run(ctx context.Context) error {
	if m.ran.Swap(true) {
		return errors.New("the manager runs already, or has run: make another one")
	}
	var controllers []func(stop, alive context.Context)
	for _, build := range m.controllers {
		run, err := build()
		if err != nil {
			return err
		}
		controllers = append(controllers, run)
	}
	lifetime, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	if err := m.informers.Start(lifetime); err != nil {
		return err
	}
	defer m.informers.Shutdown()
	worked := false
	work := func(alive context.Context) {
		worked = true
		var working wait.Group
		for _, run := range controllers {
			working.Start(func() { run(ctx, alive) })
		}
		working.Wait()
	}
	err := m.lead(ctx, work)
	if err == nil {
		<-ctx.Done() // there may be no controller
	}
	if !worked {
		for _, run := range controllers {
			run(done, done)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return errors.Join(append([]error{err}, m.failed...)...)
}

// done is a context that has ended.
var done = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func (m *Manager) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed = append(m.failed, err)
}

// hasSynced reports whether all informers have their first list.
func (m *Manager) hasSynced() bool {
	return !slices.ContainsFunc(m.synced, func(synced informer.InformerSynced) bool { return !synced() })
}

// Object is an object of a collection: any pointer to a struct with JSON tags that embeds
// [api.ObjectMeta]. A struct that lacks fields of the server's objects may be read and patched; an
// Update with it would remove them. The types of package api keep such fields.
type Object = informer.Object

// Collection is a collection of objects on the server, with a local copy of it.
type Collection[T Object] struct {
	resource *restclient.Resource[T]
	informer *informer.SharedIndexInformer[T]
}

// Watch returns the collection of all objects of a resource, in all namespaces, that a label
// selector selects; "" selects all. Objects are decoded into T. Two calls with the same arguments
// return the same collection, and share its list and its watch. Call it before [Manager.Run].
func Watch[T Object](m *Manager, resource api.GroupVersionResource, labelSelector string) *Collection[T] {
	name := resource.TypeName()
	made := restclient.Typed[T](m.config.Client, resource, "")
	key := resource.GroupVersion().String() + " " + resource.Resource + " " + labelSelector
	newInformer := func(time.Duration) *informer.SharedIndexInformer[T] {
		shared := informer.NewSharedIndexInformer(made, informer.Config[T]{
			Name:              name,
			Gears:             gears.Informer[T](m.config.Gears),
			TweakListOptions:  func(options *api.ListOptions) { options.LabelSelector = labelSelector },
			Reflector:         reflector.Config[T]{Trace: m.failures.watching(name, resource)},
			WatchErrorHandler: m.failures.processing(name),
		})
		m.Allow(resource, "", "Watched in all namespaces.", "list", "watch")
		m.synced = append(m.synced, shared.HasSynced)
		return shared
	}
	return &Collection[T]{made, informer.InformerFor(&m.informers, key, newInformer)}
}

// Cached returns an object of the local copy, which may be a moment older than the server's. It is
// shared with all other readers: do not change it. namespace is "" for an object of the cluster.
func (c *Collection[T]) Cached(namespace, name string) (object T, found bool) {
	object, err := c.lister().ByNamespace(namespace).Get(name)
	return object, err == nil // the only error is that there is none
}

// CachedList returns the objects of the local copy for which match returns true; a nil match
// selects all. They are shared, as those of Cached are. The order is not defined.
func (c *Collection[T]) CachedList(match func(object T) bool) []T {
	if match == nil {
		match = func(T) bool { return true }
	}
	return c.lister().ListFunc(match)
}

// Informer returns the informer of the local copy, which the manager runs, for a controller that
// has handlers of its own; see [Manager.Add].
func (c *Collection[T]) Informer() *informer.SharedIndexInformer[T] { return c.informer }

func (c *Collection[T]) lister() informer.Lister[T] {
	return informer.NewLister(c.informer.GetIndexer(), c.informer.Name())
}

// Server returns the collection of a namespace on the server, "" for objects of the cluster. Each
// call of a method of it sends a request. It has all objects, whatever the label selector.
func (c *Collection[T]) Server(namespace string) *restclient.Resource[T] {
	return c.resource.InNamespace(namespace)
}

// failures writes failures, each once a minute at most. The zero value with a writer works; it is
// safe for concurrent use.
type failures struct {
	to   io.Writer
	mu   sync.Mutex
	last map[string]time.Time // when each text was written
}

// pauseOfFailures is the shortest time between two lines of the same text.
const pauseOfFailures = time.Minute

// query is the part of an address that differs between two attempts.
var query = regexp.MustCompile(`\?\S*`)

// watching returns hooks that report the failed requests of an informer.
func (f *failures) watching(name string, resource api.GroupVersionResource) *reflector.Trace {
	return &reflector.Trace{BackOff: func(_ time.Duration, err error) {
		if custom := strings.Contains(resource.Group, "."); custom && api.IsNotFound(err) {
			err = fmt.Errorf("the server has no such type, apply its CustomResourceDefinition: %w", err)
		}
		f.report("watching "+name, err)
	}}
}

// processing returns a function that reports an object that an informer cannot process. It is
// called with other errors, too, which the hooks of watching report.
func (f *failures) processing(name string) func(ctx context.Context, err error) {
	return func(_ context.Context, err error) {
		if _, ok := errors.AsType[*informer.ProcessError](err); ok {
			f.report("watching "+name, err)
		}
	}
}

// report writes a line: what it is about, and an error or a text.
func (f *failures) report(what string, says any) {
	line := fmt.Sprintf("%s: %v", what, says)
	text := query.ReplaceAllString(line, "")
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	for known, at := range f.last {
		if now.Sub(at) >= pauseOfFailures {
			delete(f.last, known)
		}
	}
	if _, written := f.last[text]; written {
		return
	}
	if f.last == nil {
		f.last = map[string]time.Time{}
	}
	f.last[text] = now
	fmt.Fprintf(f.to, "%s %s\n", now.UTC().Format(time.RFC3339), line)
}
