package nsctl_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/nsctl"
	"orrery/nsctl/fast"
	"orrery/nsctl/nsctltest"
	"orrery/restclient/api"
	"orrery/wait"
)

// forms are the deleters of the controller.
var forms = map[string]func(nsctl.DeleterConfig) nsctl.Deleter{"textbook": nsctl.NewDeleter, "fast": fast.NewDeleter}

// passLog records the calls of hooks about passes.
type passLog struct {
	mu       sync.Mutex // guards the fields below
	ends     map[string][]error
	began    map[string][]time.Duration // since the start
	failures map[string][]int           // after each pass
	stuck    []string
	panics   []*wait.Panic
}

func (l *passLog) trace() *nsctl.Trace {
	since := time.Now()
	l.ends, l.began, l.failures = map[string][]error{}, map[string][]time.Duration{}, map[string][]int{}
	return &nsctl.Trace{
		PassStarted: func(name string) {
			l.record(func() { l.began[name] = append(l.began[name], time.Since(since)) })
		},
		PassStuck: func(name string, running time.Duration, waiting int) {
			l.record(func() { l.stuck = append(l.stuck, fmt.Sprint(name, " ", running, " ", waiting)) })
		},
		PassPanicked: func(_ string, err *wait.Panic) { l.record(func() { l.panics = append(l.panics, err) }) },
		PassDone: func(name string, _ time.Duration, failures int, err error) {
			l.record(func() {
				l.ends[name], l.failures[name] = append(l.ends[name], err), append(l.failures[name], failures)
			})
		},
	}
}

func (l *passLog) record(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// flawed wraps clients and adds faults.
type flawed struct {
	nsctl.NamespaceClient
	nsctl.ContentClient
	nsctl.Discovery
	get      func(ctx context.Context, name string)
	delete   func(ctx context.Context, gvr api.GroupVersionResource, namespace string)
	discover func(ctx context.Context)
	holders  func()
	healed   atomic.Bool // the faults are over
}

func (f *flawed) ill() bool { return !f.healed.Load() }

func (f *flawed) Get(ctx context.Context, name string, opts api.GetOptions) (*api.Namespace, error) {
	if f.get != nil && f.ill() {
		f.get(ctx, name)
	}
	return f.NamespaceClient.Get(ctx, name, opts)
}

func (f *flawed) PreferredNamespacedResources(ctx context.Context,
	notOlderThan time.Time) ([]*api.APIResourceList, error) {
	if f.discover != nil && f.ill() {
		f.discover(ctx)
	}
	return f.Discovery.PreferredNamespacedResources(ctx, notOlderThan)
}

// flawedContent is the content client.
type flawedContent struct {
	nsctl.ContentClient
	*flawed
}

func (f flawedContent) DeleteCollection(ctx context.Context, gvr api.GroupVersionResource,
	namespace string) ([]*api.PartialObjectMetadata, bool, error) {
	if f.delete != nil && f.ill() {
		f.delete(ctx, gvr, namespace)
	}
	return f.ContentClient.DeleteCollection(ctx, gvr, namespace)
}

func (f flawedContent) Holders(ctx context.Context, gvr api.GroupVersionResource) (map[string]bool, bool, error) {
	if f.holders != nil && f.ill() {
		f.holders()
	}
	return f.ContentClient.Holders(ctx, gvr)
}

// startFlawed runs a controller with faults in its clients.
func startFlawed(t *testing.T, c *nsctltest.Cluster, f *flawed, form func(nsctl.DeleterConfig) nsctl.Deleter,
	adjust func(*nsctl.Config)) (*nsctltest.Running, *passLog) {
	log := &passLog{}
	r := nsctltest.StartController(t, c, form, func(config *nsctl.Config, deleter *nsctl.DeleterConfig) {
		f.NamespaceClient, f.Discovery = deleter.Namespaces, deleter.Discovery
		deleter.Namespaces, deleter.Discovery = f, f
		deleter.Content = flawedContent{deleter.Content, f}
		config.Trace = log.trace()
		if adjust != nil {
			adjust(config)
		}
	})
	return r, log
}

// startLogged is startFlawed without faults.
func startLogged(
	t *testing.T, c *nsctltest.Cluster, form func(nsctl.DeleterConfig) nsctl.Deleter, adjust func(*nsctl.Config),
) (*nsctltest.Running, *passLog) {
	return startFlawed(t, c, &flawed{}, form, adjust)
}

// A pass that panics, on whatever goroutine, has failed: that namespace is retried, all others go,
// and the hook gets the stack of the panic.
func TestAPassThatPanics(t *testing.T) {
	fault := errors.New("a fault in the program")
	unlucky := func(name string) {
		if name == "ns-00" {
			panicHere(fault)
		}
	}
	deleting := func(resource string) func() *flawed {
		return func() *flawed {
			return &flawed{delete: func(_ context.Context, gvr api.GroupVersionResource, name string) {
				if gvr.Resource == resource {
					unlucky(name)
				}
			}}
		}
	}
	tests := map[string]func() *flawed{
		"on the worker's goroutine": func() *flawed {
			return &flawed{get: func(_ context.Context, name string) { unlucky(name) }}
		},
		"on that of a type": deleting("configmaps"),
		"with the pods":     deleting("pods"),
		"in discovery": func() *flawed {
			return &flawed{discover: func(context.Context) { panicHere(fault) }}
		},
		"in an emptiness check": func() *flawed { return &flawed{holders: func() { panicHere(fault) }} },
	}
	for name, newFault := range tests {
		for form, newDeleter := range forms {
			f := newFault()
			if f.holders != nil && form == "textbook" {
				continue // it checks nothing for several namespaces
			}
			nsctltest.BubbleRun(t, name+" "+form, func(t *testing.T, c *nsctltest.Cluster) {
				names := nsctltest.Crowd(c, 10)
				c.Put("pods.", "ns-00", "p", nsctltest.RunningPod(0))
				r, log := startFlawed(t, c, f, newDeleter, nil)
				time.Sleep(time.Minute)
				for i, name := range names {
					ofOne := f.get != nil || f.delete != nil
					if ofOne && i > 0 || c.Namespace(name) == nil {
						c.AssertGone(t, name)
					}
				}
				log.record(func() {
					require.NotEmpty(t, log.panics)
					assert.ErrorIs(t, log.panics[0], fault)
					assert.Contains(t, string(log.panics[0].Stack), "panicHere", "the stack shows the fault")
				})
				f.healed.Store(true)
				time.Sleep(2 * time.Minute)
				nsctltest.AssertAllGone(t, c, names)
				assert.Empty(t, r.Snapshot().Active)
			})
		}
	}
}

func panicHere(value any) { panic(value) }

// A pass that blocks occupies its worker and nothing else, for ten minutes unless the limit is
// another.
func TestAPassThatBlocksForAnHour(t *testing.T) {
	for limit, ends := range map[time.Duration]int{0: 5, -1: 0} {
		nsctltest.BubbleRun(t, fmt.Sprint(limit), func(t *testing.T, c *nsctltest.Cluster) {
			c.AddNamespace("slow", true, "kubernetes")
			c.AddNamespace("fine", true, "kubernetes")
			f := &flawed{get: func(ctx context.Context, name string) {
				if name == "slow" {
					_ = wait.Sleep(ctx, time.Hour)
				}
			}}
			_, log := startFlawed(t, c, f, nsctl.NewDeleter,
				func(config *nsctl.Config) { config.Pool.PassTimeout = limit })
			time.Sleep(59 * time.Minute)
			assert.Nil(t, c.Namespace("fine"))
			log.record(func() {
				assert.Len(t, log.ends["slow"], ends, "passes that ended, with the limit %v", limit)
				for _, err := range log.ends["slow"] {
					assert.ErrorIs(t, err, controller.ErrPassTimeout)
				}
			})
		})
	}
}

// A namespace that is re-created again and again between two events leaves nothing behind.
func TestRecreatedNamespacesAreForgotten(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		r := nsctltest.StartController(t, c, nsctl.NewDeleter, nil)
		time.Sleep(time.Second)
		for range 100 {
			c.AddNamespace("ns", true, "kubernetes") // a new UID: the watch has missed the deletion
			time.Sleep(time.Second)
		}
		time.Sleep(10 * time.Second)
		assert.Nil(t, c.Namespace("ns"))
		assert.Zero(t, r.Deleting(), "former namespaces of that name are still counted as terminating")
	})
}

// Only a success resets the failures. A pass with remaining content is neither a failure nor a
// success: the back-off of a namespace that fails now and then must not restart each time.
func TestWhatRemainsForgetsNoFailures(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		c.AddNamespace("ns", true, "kubernetes")
		passes := &scripted{errs: []error{errPass, errPass, &nsctl.ResourcesRemainingError{Estimate: 2}, errPass, nil}}
		r, log := startLogged(t, c, passes.form, nil)
		time.Sleep(time.Minute)
		r.Stop()
		assert.Equal(t, []int{1, 2, 2, 3, 0}, log.failures["ns"],
			"the failures of a namespace after each pass: two failures, a rest, a failure, a success")
	})
}

// A plan for a former namespace of a name does not shorten the grace period of the next one.
func TestARecreatedNamespaceHasItsOwnGracePeriod(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		c.AddNamespace("ns", true, "kubernetes")
		passes := &scripted{errs: []error{&nsctl.ResourcesRemainingError{Estimate: 60}}} // plans a look at ten seconds
		r, log := startLogged(t, c, passes.form, nil)
		time.Sleep(8 * time.Second)
		c.AddNamespace("ns", true, "kubernetes")
		time.Sleep(time.Minute)
		r.Stop()
		assert.Equal(t, []time.Duration{5 * time.Second, 13 * time.Second}, log.began["ns"])
	})
}

var errPass = errors.New("out of order")

// scripted is a deleter whose passes return errs in order and then succeed. It deletes nothing.
type scripted struct {
	mu   sync.Mutex
	errs []error
}

func (s *scripted) form(nsctl.DeleterConfig) nsctl.Deleter { return s }

func (s *scripted) Delete(context.Context, string, nsctl.ObservedDeletion) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.errs) == 0 {
		return nil
	}
	err := s.errs[0]
	s.errs = s.errs[1:]
	return err
}
