package nsctl_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

func (f *flawed) PreferredNamespacedResources(ctx context.Context, notOlderThan time.Time) ([]*api.APIResourceList, error) {
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

func (f flawedContent) DeleteCollection(ctx context.Context, gvr api.GroupVersionResource, namespace string) ([]*api.PartialObjectMetadata, bool, error) {
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
func startFlawed(t *testing.T, c *nsctltest.Cluster, f *flawed, form func(nsctl.DeleterConfig) nsctl.Deleter, adjust func(*nsctl.Config)) (*nsctltest.Running, *passLog) {
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

// A pass that panics, anywhere, has failed: that namespace is retried with back-off, the workers
// and all other namespaces continue, and the hook gets the stack of the panic.
func TestAPassThatPanics(t *testing.T) {
	fault := errors.New("a fault in the program")
	unlucky := func(name string) {
		if name == "unlucky" {
			panicHere(fault)
		}
	}
	tests := map[string]func() *flawed{
		"on the worker's goroutine": func() *flawed { return &flawed{get: func(_ context.Context, name string) { unlucky(name) }} },
		"on that of a type": func() *flawed {
			return &flawed{delete: func(_ context.Context, gvr api.GroupVersionResource, name string) {
				if gvr.Resource == "secrets" {
					unlucky(name)
				}
			}}
		},
		"with the pods": func() *flawed {
			return &flawed{delete: func(_ context.Context, gvr api.GroupVersionResource, name string) {
				if gvr.Resource == "pods" {
					unlucky(name)
				}
			}}
		},
	}
	for name := range tests {
		for form, newDeleter := range forms {
			f := tests[name]()
			nsctltest.BubbleRun(t, name+" "+form, func(t *testing.T, c *nsctltest.Cluster) {
				c.AddNamespace("unlucky", true, "kubernetes")
				c.Put("secrets.", "unlucky", "s")
				c.Put("pods.", "unlucky", "p", nsctltest.RunningPod(0))
				r, log := startFlawed(t, c, f, newDeleter, func(config *nsctl.Config) { config.Workers = 1 })
				time.Sleep(10 * time.Second)
				for i := range 5 {
					c.AddNamespace(fmt.Sprint("fine-", i), true, "kubernetes")
				}
				time.Sleep(20 * time.Minute)
				for i := range 5 {
					assert.Nil(t, c.Namespace(fmt.Sprint("fine-", i)), "the only worker has survived")
				}
				assert.NotNil(t, c.Namespace("unlucky"))
				log.record(func() {
					passes := len(log.ends["unlucky"])
					assert.Greater(t, passes, 25, "it is not given up")
					assert.Less(t, passes, 45, "but tried once a minute")
					assert.Len(t, log.panics, passes)
					assert.ErrorIs(t, log.ends["unlucky"][0], fault)
					assert.EqualError(t, log.panics[0], "panic: a fault in the program")
					assert.Contains(t, string(log.panics[0].Stack), "panicHere", "the stack shows the fault")
				})
				f.healed.Store(true)
				time.Sleep(2 * time.Minute)
				assert.Nil(t, c.Namespace("unlucky"))
				assert.Empty(t, r.Snapshot().Active)
			})
		}
	}
}

func panicHere(value any) { panic(value) }

// Panics in discovery, and in an emptiness check that several passes share.
func TestGoroutinesOfAPassPanic(t *testing.T) {
	tests := map[string]*flawed{
		"discovery":       {discover: func(context.Context) { panicHere("no types") }},
		"emptiness check": {holders: func() { panicHere("no check") }},
	}
	for name, f := range tests {
		nsctltest.BubbleRun(t, name, func(t *testing.T, c *nsctltest.Cluster) {
			names := nsctltest.Crowd(c, 10)
			_, log := startFlawed(t, c, f, fast.NewDeleter, nil)
			time.Sleep(10 * time.Second)
			log.record(func() { assert.NotEmpty(t, log.panics) })
			for _, name := range names {
				if c.Namespace(name) == nil {
					assert.Empty(t, c.Left(name))
				}
			}
			f.healed.Store(true)
			time.Sleep(2 * time.Minute)
			nsctltest.AssertAllGone(t, c, names)
		})
	}
}

// A pass that blocks occupies its worker and nothing else. A client that respects its context
// frees even that.
func TestAPassThatBlocksForAnHour(t *testing.T) {
	tests := map[string]struct {
		block func(ctx context.Context)
		ends  int // passes of the namespace within the hour
		stuck []string
	}{
		"and does not listen": {func(context.Context) { time.Sleep(time.Hour) }, 0,
			[]string{"slow 1m0s 0", "slow 2m0s 0", "slow 4m0s 0", "slow 8m0s 0", "slow 16m0s 0", "slow 32m0s 0"}},
		"until its time is over": {func(ctx context.Context) { <-ctx.Done() }, 5,
			[]string{"slow 1m0s 0", "slow 2m0s 0", "slow 4m0s 0", "slow 8m0s 0", "slow 1m0s 0"}},
	}
	for name, test := range tests {
		nsctltest.BubbleRun(t, name, func(t *testing.T, c *nsctltest.Cluster) {
			c.AddNamespace("slow", true, "kubernetes")
			f := &flawed{get: func(ctx context.Context, name string) {
				if name == "slow" {
					test.block(ctx)
				}
			}}
			r, log := startFlawed(t, c, f, nsctl.NewDeleter, func(config *nsctl.Config) { config.Workers = 2 })
			time.Sleep(10 * time.Second)
			for i := range 10 {
				name := fmt.Sprint("fine-", i)
				c.AddNamespace(name, true, "kubernetes")
				time.Sleep(5100 * time.Millisecond)
				require.Nil(t, c.Namespace(name), "the other worker has it")
			}
			assert.Contains(t, r.Snapshot().Active, "slow")
			time.Sleep(57 * time.Minute)
			log.record(func() {
				assert.Len(t, log.ends["slow"], test.ends)
				for _, err := range log.ends["slow"] {
					assert.ErrorIs(t, err, controller.ErrPassTimeout)
					assert.ErrorIs(t, err, context.DeadlineExceeded)
				}
				assert.Equal(t, test.stuck, log.stuck[:len(test.stuck)])
			})
			f.healed.Store(true)
			time.Sleep(20 * time.Minute)
			assert.Nil(t, c.Namespace("slow"))
			r.Stop()
			log.record(func() { log.stuck = nil })
			time.Sleep(time.Hour)
			log.record(func() { assert.Empty(t, log.stuck, "no watch outlives its pass") })
		})
	}
}

// Hooks may panic, too. One that is called outside the pass, on a timer's goroutine or after the
// pass, must end neither the process nor the retries of the namespace.
func TestHooksBesideThePassThatPanic(t *testing.T) {
	defer wait.ReallyCrash.Store(wait.ReallyCrash.Swap(false))
	var reported atomic.Int32
	defer wait.PanicHandlers.Replace(func(context.Context, *wait.Panic) { reported.Add(1) })()
	tests := map[string]struct {
		block time.Duration
		spoil func(*nsctl.Trace)
	}{
		"PassStuck":    {block: 5 * time.Minute, spoil: func(t *nsctl.Trace) { t.PassStuck = func(string, time.Duration, int) { panicHere("stuck") } }},
		"PassPanicked": {spoil: func(t *nsctl.Trace) { t.PassPanicked = func(string, *wait.Panic) { panicHere("panicked") } }},
		"PassDone":     {spoil: func(t *nsctl.Trace) { t.PassDone = func(string, time.Duration, int, error) { panicHere("done") } }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reported.Store(0)
				c := nsctltest.NewCluster()
				c.AddNamespace("unlucky", true, "kubernetes")
				f := &flawed{get: func(context.Context, string) {
					time.Sleep(test.block)
					if test.block == 0 {
						panicHere("a fault in the program")
					}
				}}
				startFlawed(t, c, f, nsctl.NewDeleter, func(config *nsctl.Config) {
					config.ResyncPeriod = 24 * time.Hour
					test.spoil(config.Trace)
				})
				time.Sleep(10 * time.Minute)
				assert.Greater(t, reported.Load(), int32(1), "and is reported again")
				f.healed.Store(true)
				time.Sleep(10 * time.Minute)
				assert.Nil(t, c.Namespace("unlucky"), "the namespace is tried again")
			})
		})
	}
}

// Without a limit a pass may take as long as it wants.
func TestPassTimeoutCanBeSwitchedOff(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		c.AddNamespace("slow", true, "kubernetes")
		var slow atomic.Bool
		slow.Store(true)
		f := &flawed{get: func(ctx context.Context, _ string) {
			if !slow.Swap(false) {
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(3 * time.Hour):
			}
		}}
		_, log := startFlawed(t, c, f, nsctl.NewDeleter, func(config *nsctl.Config) { config.PassTimeout = -1 })
		time.Sleep(4 * time.Hour)
		assert.Nil(t, c.Namespace("slow"))
		log.record(func() {
			assert.NotEmpty(t, log.ends["slow"])
			for _, err := range log.ends["slow"] {
				assert.NoError(t, err)
			}
		})
	})
}

// Namespaces that fail forever: each is retried with pauses up to a minute, and delays no other.
func TestPassesThatFailForEver(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		const bad = 4
		for i := range bad {
			c.AddNamespace(fmt.Sprint("bad-", i), true, "kubernetes")
		}
		c.Refuse(func(r *http.Request) *api.Status {
			if r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/bad-") {
				return nsctltest.Status(500, api.ReasonInternalError, "out of order")
			}
			return nil
		})
		few := func(config *nsctl.Config) { config.Workers, config.ResyncPeriod = 2, 24*time.Hour }
		_, log := startLogged(t, c, nsctl.NewDeleter, few)
		time.Sleep(20 * time.Minute)
		log.record(func() { clear(log.began) })
		for i := range 10 {
			name := fmt.Sprint("fine-", i)
			c.AddNamespace(name, true, "kubernetes")
			time.Sleep(6 * time.Second)
			require.Nil(t, c.Namespace(name))
		}
		time.Sleep(29 * time.Minute)
		log.record(func() {
			for i := range bad {
				began := log.began[fmt.Sprint("bad-", i)]
				assert.InDelta(t, 30, len(began), 1, "once a minute is the longest pause")
				for j := 1; j < len(began); j++ {
					require.InDelta(t, time.Minute, began[j]-began[j-1], float64(time.Second))
				}
			}
		})
	})
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

// A pass that an event brings forward replaces the plan of the one before. If it plans nothing, the
// next resync brings the next look, and does not wait for the old plan, which may be hours away.
func TestAnOvertakenPlanIsForgotten(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		c.AddNamespace("ns", true, "kubernetes")
		c.Update("ns", func(ns *api.Namespace) {
			hoursAgo := api.NewTime(time.Now().Add(-5 * time.Hour)) // the next look may be as far away
			ns.DeletionTimestamp = &hoursAgo
		})
		passes := &scripted{errs: []error{&nsctl.ResourcesRemainingError{Estimate: 7200}}}
		r, log := startLogged(t, c, passes.form, func(config *nsctl.Config) { config.ResyncPeriod = 4 * time.Minute })
		time.Sleep(10 * time.Second)
		require.Len(t, r.Snapshot().Queue.Delayed, 1)
		require.Greater(t, r.Snapshot().Queue.Delayed[0].In, 59*time.Minute, "the first look plans one in an hour")
		c.Update("ns", func(ns *api.Namespace) { ns.Annotations = map[string]string{"look": "now"} })
		time.Sleep(5 * time.Minute)
		r.Stop()
		want := []time.Duration{5 * time.Second, 15 * time.Second, 4*time.Minute + 5*time.Second}
		assert.Equal(t, want, log.began["ns"],
			"the resync after four minutes brings a look, after the grace period")
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

// A pass whose last request is answered just after its time limit has done its work all the same.
func TestAPassThatSucceedsAfterItsTimeLimitHasNotFailed(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		c.AddNamespace("ns", true, "kubernetes")
		passes := &scripted{takes: 2 * time.Second}
		r, log := startLogged(t, c, passes.form, func(config *nsctl.Config) { config.PassTimeout = time.Second })
		time.Sleep(time.Minute)
		r.Stop()
		assert.Equal(t, []error{nil}, log.ends["ns"], "one pass, which has succeeded")
	})
}

var errPass = errors.New("out of order")

// scripted is a deleter whose passes return errs in order and then succeed. It deletes nothing.
type scripted struct {
	takes time.Duration // how long a pass takes; its context does not end it

	mu   sync.Mutex
	errs []error
}

func (s *scripted) form(nsctl.DeleterConfig) nsctl.Deleter { return s }

func (s *scripted) Delete(context.Context, string, nsctl.ObservedDeletion) error {
	time.Sleep(s.takes)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.errs) == 0 {
		return nil
	}
	err := s.errs[0]
	s.errs = s.errs[1:]
	return err
}

// A resync says when the planned look comes: the plan counts how long the deletion has taken.
func TestAResyncSaysWhenTheNextLookComes(t *testing.T) {
	nsctltest.Bubble(t, func(t *testing.T, c *nsctltest.Cluster) {
		c.AddNamespace("ns", true, "kubernetes")
		started := time.Now()
		passes := &scripted{errs: []error{&nsctl.ResourcesRemainingError{Estimate: 60}, &nsctl.ResourcesRemainingError{Estimate: 60}}}
		said := map[time.Duration]time.Duration{}
		var mu sync.Mutex
		r, log := startLogged(t, c, passes.form, func(config *nsctl.Config) {
			config.ResyncPeriod = 4 * time.Second
			config.Trace.Enqueued = func(_ *api.Namespace, after time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				said[time.Since(started)] = after
			}
		})
		time.Sleep(21 * time.Second)
		r.Stop()
		assert.Equal(t, []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}, log.began["ns"][:3])
		assert.Equal(t, 8*time.Second, said[12*time.Second], "the resync at twelve seconds says another time than that of the look, which comes at twenty")
	})
}
