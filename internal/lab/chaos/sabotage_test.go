package chaos

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/examples/virtualmachine/driver"
	"orrery/informer"
	"orrery/nsctl"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
)

// sabotage breaks a subject of a run on purpose, to show that the checks find it. The zero value
// breaks nothing.
type sabotage struct {
	// stream reports whether an event reaches the informer.
	stream func(kind api.WatchEventType, key string) (pass bool)
	// handler returns how often a handler gets an event.
	handler func(kind informer.EventKind, key string) (times int)
	// content wraps the client of the deleter.
	content func(nsctl.ContentClient) nsctl.ContentClient
	// queue wraps the trace that observes the queue.
	queue func(*queue.Trace[string]) *queue.Trace[string]
	// without is the name of a controller to leave out.
	without string
	// begun is called when everything is running, stopped when everything has stopped.
	begun, stopped func(*world)
}

// sabotaged is a lister-watcher that loses events.
type sabotaged[T object] struct {
	informer.ListerWatcher[T]
	pass func(api.WatchEventType, string) bool
}

func (s sabotaged[T]) Watch(ctx context.Context, opts api.ListOptions) (api.Watcher[T], error) {
	w, err := s.ListerWatcher.Watch(ctx, opts)
	if err != nil {
		return nil, err
	}
	return lossy[T]{w, s.pass}, nil
}

type lossy[T object] struct {
	api.Watcher[T]
	pass func(api.WatchEventType, string) bool
}

func (l lossy[T]) Next() (api.WatchEvent[T], error) {
	for {
		event, err := l.Watcher.Next()
		changes := event.Type == api.WatchAdded || event.Type == api.WatchModified || event.Type == api.WatchDeleted
		if err != nil || !changes || l.pass(event.Type, keyOf(event.Object)) {
			return event, err
		}
	}
}

// sabotagedHandler drops events for a handler or repeats them.
type sabotagedHandler[T object] struct {
	informer.ResourceEventHandler[T]
	times func(informer.EventKind, string) int
}

func (s sabotagedHandler[T]) OnAdd(o T, initial bool) {
	for range s.times(informer.EventAdd, keyOf(o)) {
		s.ResourceEventHandler.OnAdd(o, initial)
	}
}

func (s sabotagedHandler[T]) OnUpdate(was, is T) {
	for range s.times(informer.EventUpdate, keyOf(is)) {
		s.ResourceEventHandler.OnUpdate(was, is)
	}
}

func (s sabotagedHandler[T]) OnDelete(d informer.DeletedObject[T]) {
	for range s.times(informer.EventDelete, d.Key) {
		s.ResourceEventHandler.OnDelete(d)
	}
}

// calm is a plan with writers only, so that any failure comes from the sabotage.
func calm() Plan {
	p := NewPlan(1, time.Minute)
	p.onlyWrites()
	for i, process := range p.Processes {
		for k := range process.Informers {
			p.Processes[i].Informers[k].Selector = ""
			p.Processes[i].Informers[k].Handlers = []HandlerPlan{{}, {}}
		}
	}
	return p
}

// onlyWrites removes everything else from a plan.
func (p *Plan) onlyWrites() {
	p.TLS, p.Window = false, 0
	writes := []Action{Put, Delete, Recreate, Release, CreateNamespace, DeleteNamespace}
	for i, storm := range p.Storms {
		p.Storms[i].Steps = slices.DeleteFunc(storm.Steps,
			func(s Step) bool { return !slices.Contains(writes, s.What) })
	}
}

func TestNothingIsWrongWhenNothingIsBroken(t *testing.T) {
	report := playInBubble(t, calm(), sabotage{})
	assert.Nil(t, report.Failure)
	assert.Positive(t, report.Passes)
}

// once returns a function that returns true for the first event that matches.
func once[K comparable](wanted K) func(K, string) bool {
	var done atomic.Bool
	return func(kind K, key string) bool {
		return kind == wanted && strings.Contains(key, "/") && !done.Swap(true)
	}
}

// losing drops one event of a kind, in the informer that gets it first.
func losing(kind api.WatchEventType) sabotage {
	hit := once(kind)
	return sabotage{stream: func(kind api.WatchEventType, key string) bool { return !hit(kind, key) }}
}

// telling delivers one event of a kind to one handler the given number of times.
func telling(kind informer.EventKind, times int) sabotage {
	hit := once(kind)
	return sabotage{handler: func(kind informer.EventKind, key string) int {
		if hit(kind, key) {
			return times
		}
		return 1
	}}
}

// Each checker finds the violation that it is for.
func TestWhatIsBrokenIsFound(t *testing.T) {
	p := calm()
	for name, broken := range map[string]struct {
		sabotage
		found []string
	}{
		"an informer that loses a deletion": {losing(api.WatchDeleted),
			[]string{"is not on the server", "missed the deletion of"}},
		"an informer that receives only deletions": {
			sabotage{stream: func(kind api.WatchEventType, _ string) bool { return kind == api.WatchDeleted }},
			[]string{"is missing", "missed the addition of"},
		},

		"a handler that gets an addition twice": {telling(informer.EventAdd, 2),
			[]string{"though", "is there; recent events"}},
		"a handler that misses an addition": {telling(informer.EventAdd, 0), []string{"though nothing is there"}},
		"a handler that gets a deletion twice": {telling(informer.EventDelete, 2),
			[]string{"was deleted as", "though nothing is there"}},
		"a handler that misses a deletion": {telling(informer.EventDelete, 0), []string{"missed the deletion of"}},
		"a handler that misses an update":  {telling(informer.EventUpdate, 0), []string{"the last state was"}},
		"a handler that does not return": {
			sabotage{handler: func() func(informer.EventKind, string) int {
				hit := once(informer.EventAdd)
				return func(kind informer.EventKind, key string) int {
					if hit(kind, key) {
						time.Sleep(time.Hour)
					}
					return 1
				}
			}()}, []string{"events wait for it"},
		},

		"a deleter that finalizes early": {
			sabotage{content: func(c nsctl.ContentClient) nsctl.ContentClient { return blind{c} }},
			[]string{"was finalized at version", "when it still held"},
		},
		"a deleter that makes no progress": {
			sabotage{content: func(c nsctl.ContentClient) nsctl.ContentClient { return powerless{c} }},
			[]string{"is still being deleted", "the rate limiter remembers failures of"},
		},
		"a queue that hands a key out twice": {
			sabotage{queue: func(t *queue.Trace[string]) *queue.Trace[string] {
				return queue.JoinTraces(t, &queue.Trace[string]{Got: t.Got})
			}}, []string{"was handed out"},
		},
		"a worker that gives back a key that it does not hold": {
			sabotage{queue: func(t *queue.Trace[string]) *queue.Trace[string] {
				return queue.JoinTraces(t,
					&queue.Trace[string]{Got: func(e queue.Event[string], _ time.Duration) { t.DoneUnknown(e) }})
			}}, []string{"though no worker held it"},
		},

		"a timer that is left": {
			sabotage{stopped: func(*world) { time.AfterFunc(10*time.Minute, func() {}) }}, []string{"1 timers rang"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			report := playInBubble(t, p, broken.sabotage)
			requireFound(t, report, p, broken.found...)
		})
	}
}

func requireFound(t *testing.T, report *Report, p Plan, found ...string) {
	t.Helper()
	require.NotNil(t, report.Failure)
	text, _, _ := strings.Cut(report.Failure.Explain(p), "\nstorm ")
	for _, words := range found {
		assert.Contains(t, text, words)
	}
}

// blind reports every namespace as empty.
type blind struct{ nsctl.ContentClient }

func (blind) DeleteCollection(context.Context, api.GroupVersionResource,
	string) ([]*api.PartialObjectMetadata, bool, error) {
	return nil, true, nil
}

func (blind) List(context.Context, api.GroupVersionResource, string) ([]*api.PartialObjectMetadata, error) {
	return nil, nil
}

func (blind) Pages(context.Context, api.GroupVersionResource, string, func([]*api.PartialObjectMetadata) error) error {
	return nil
}

func (blind) Holders(context.Context, api.GroupVersionResource) (map[string]bool, bool, error) {
	return nil, true, nil
}

func (blind) ListPods(context.Context, string) ([]*api.Pod, error) { return nil, nil }

// powerless refuses every deletion.
type powerless struct{ nsctl.ContentClient }

func (powerless) DeleteCollection(context.Context, api.GroupVersionResource,
	string) ([]*api.PartialObjectMetadata, bool, error) {
	return nil, false, errors.New("no")
}

// Each controller is left out once, and leaves something behind once.
func TestWhatControllersDoWrongIsFound(t *testing.T) {
	p := calmControllers()
	require.Nil(t, playInBubble(t, p, sabotage{}).Failure)
	var second api.Watcher[*api.Namespace]
	for _, c := range []struct {
		want string
		sabotage
	}{
		{"deployment ", sabotage{without: "deployment-controller"}},
		{"has lost its owners", sabotage{without: "garbage-collector-controller"}},
		{"is still being deleted", sabotage{without: "namespace-controller"}},
		{"replica set ", sabotage{without: "replicaset-controller"}},
		{"is still being deleted", sabotage{without: "second-party-controller"}},
		{"virtual machine ", sabotage{without: "virtualmachine"}},
		{"machine left-behind has no object", sabotage{begun: func(w *world) {
			server := driver.CreateRequest{Name: "left-behind"}
			assert.NoError(t, w.outside.machines.CreateServer(context.Background(), server))
		}}},
		{"content of namespace gone was left behind", sabotage{begun: func(w *world) {
			directory := filepath.Join(w.outside.directory, "gone", builds)
			assert.NoError(t, os.MkdirAll(directory, 0o755))
			assert.NoError(t, os.WriteFile(filepath.Join(directory, "b"), nil, 0o644))
		}}},
		{"3 watches of /api/v1/namespaces are open", sabotage{
			begun: func(w *world) {
				var err error
				second, err = restclient.Typed[*api.Namespace](w.running()[0].client, api.NamespacesResource, "").
					Watch(context.Background(), api.ListOptions{})
				assert.NoError(t, err)
			},
			stopped: func(*world) { second.Stop() },
		}},
	} {
		t.Run(c.want, func(t *testing.T) { requireFound(t, playInBubble(t, p, c.sabotage), p, c.want) })
	}
}

// Leaks are found too. The test removes them afterwards, because otherwise its bubble could not
// end.
func TestLeftoversAreFound(t *testing.T) {
	p := calm()
	t.Run("a goroutine", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			defer close(release)
			requireFound(t, play(p, sabotage{begun: func(*world) { go func() { <-release }() }}), p,
				"a goroutine is left", "sabotage_test.go")
		})
	})
	t.Run("a connection", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			report := play(p, sabotage{begun: func(w *world) {
				conn, err := w.processes[1].link.Dial(w.network.dial)(t.Context(), "tcp", "localhost")
				require.NoError(t, err)
				t.Cleanup(func() { conn.Close() })
			}})
			requireFound(t, report, p, "reader: 1 connections are open")
		})
	})
	t.Run("a watch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			report := play(p, sabotage{begun: func(w *world) {
				s := w.processes[1].subjects[0]
				go func() {
					if one, err := newSubject(w, w.processes[1].client, s.plan()); err == nil {
						one.run(ctx)
					}
				}()
			}})
			requireFound(t, report, p, "reader: the client counts 0 requests and 1 watches",
				"the server counts 0 requests and 1 watches")
		})
	})
}

func TestConcurrentPasses(t *testing.T) {
	var wrong []string
	p := newPasses(func(format string, _ ...any) { wrong = append(wrong, format) })
	trace := p.trace()
	trace.PassStarted("a")
	trace.PassStarted("b")
	trace.PassDone("a", 0, 0, nil)
	trace.PassStarted("a")
	assert.Empty(t, wrong)
	trace.PassStarted("b")
	assert.Len(t, wrong, 1)
	assert.Equal(t, 1, p.count())
}

// A store with the right versions but wrong content is found too.
func TestFieldsAreCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := newWorld(calm(), sabotage{})
		require.NoError(t, err)
		defer w.stopServer()
		w.perform(Step{What: Put, On: "configmaps/n0/a", N: 7})
		server, err := w.registry().Get(w.target("configmaps", "n0", "a"), api.GetOptions{})
		require.NoError(t, err)

		document := server.Decode()
		assert.Empty(t, differs(server, document))
		head := &api.PartialObjectMetadata{ObjectMeta: api.ObjectMeta{Labels: map[string]string{"value": "7"}}}
		assert.Empty(t, differs(server, head))
		head.Labels["value"] = "8"
		assert.Contains(t, differs(server, head), "labels")
		require.NoError(t, document.SetNested("x", "data", "k"))
		assert.Contains(t, differs(server, document), "should be")

		space, err := w.registry().Get(w.target("namespaces", "", "n0"), api.GetOptions{})
		require.NoError(t, err)
		typed := &api.Namespace{ObjectMeta: api.ObjectMeta{Labels: space.Labels},
			Status: api.NamespaceStatus{Phase: api.NamespaceActive}}
		assert.Empty(t, differs(space, typed))
		typed.Status.Phase = api.NamespaceTerminating
		assert.Contains(t, differs(space, typed), "phase")
	})
}
