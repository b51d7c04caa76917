package chaos

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"orrery/controller"
	"orrery/nsctl"
	"orrery/nsctl/fast"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	clientfast "orrery/restclient/fast"
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

	ending atomic.Bool // a caller is stopping it

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
		WatchTransport: p.Watch, Trace: w.recorder.Requests(),
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
		Deleter: fast.NewDeleter(nsctl.DeleterConfig{
			Namespaces: namespaces,
			Content:    content,
			Discovery:  discovery.NewCached(discovery.NewWithConfig(p.client, discovery.Config{OnlyWhenReady: true})),
		}),
		Pool: controller.PoolConfig{
			Workers:    p.plan.Workers,
			QueueTrace: queue.JoinTraces(hooks, w.recorder.Queue(w.recordedAs(p.plan.Name))),
		},
		Trace: nsctl.JoinTraces(p.passes.trace(), w.recorder.Namespaces()),
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

// begin reports whether the caller may stop the process, because no other caller is stopping it.
func (p *process) begin() bool { return !p.ending.Swap(true) }

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
