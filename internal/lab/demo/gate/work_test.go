package gate_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/informer"
	"orrery/internal/lab/demo/gate"
	"orrery/nsctl"
	nsctlfast "orrery/nsctl/fast"
	"orrery/nsctl/nsctltest"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/restclient/restclienttest"
)

// forms runs a test in a bubble with the fast, with the textbook and with further gears.
func forms(t *testing.T, test func(t *testing.T, set gears.Set), more ...string) {
	for _, text := range append([]string{gears.Fast, gears.Textbook}, more...) {
		t.Run(text, func(t *testing.T) {
			set, err := gears.Parse(text)
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) { test(t, set) })
		})
	}
}

// pool is a queue with gates and workers that note their passes.
type pool struct {
	queue.ObservableInterface[string]
	working sync.WaitGroup

	mu     sync.Mutex
	passes []string // guarded by mu
}

func startPool(t *testing.T, gates *gate.Gates, set gears.Set, workers int) *pool {
	limiter := queue.NewItemExponentialFailureRateLimiter[string](time.Second, time.Minute)
	p := &pool{ObservableInterface: gate.HoldQueue(gates, "work", set.NewQueue)(limiter, queue.Config[string]{})}
	for range workers {
		p.working.Go(func() {
			for key, shutdown := p.Get(); !shutdown; key, shutdown = p.Get() {
				p.mu.Lock()
				p.passes = append(p.passes, key)
				p.mu.Unlock()
				p.Done(key)
			}
		})
	}
	t.Cleanup(func() { p.ShutDown(); p.working.Wait() })
	return p
}

func (p *pool) took() (passes []string) {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	passes, p.passes = p.passes, nil
	return passes
}

func TestGatesOfAWorkQueue(t *testing.T) {
	forms(t, func(t *testing.T, set gears.Set) {
		gates := gate.New(t.Context(), recorder(t))
		p := startPool(t, gates, set, 1)
		gates.Close(gate.G5, gate.Condition{})
		p.Add("a")
		p.AddRateLimited("b")
		time.Sleep(2 * time.Second)
		assert.Empty(t, p.took(), "G5 is before the pass")
		assert.Equal(t, []gate.Item{{Gate: gate.G5, Key: "a", Resource: "work"}}, gates.Waiting(gate.G5))
		assert.Equal(t, "a", p.Snapshot().Processing[0].Key)
		gates.Step(gate.G5)
		assert.Equal(t, []string{"a"}, p.took())
		assert.Equal(t, 1, gates.Waiting(gate.G5)[0].Failures)

		gates.Close(gate.G7, condition(t, "key==c"))
		gates.Open(gate.G5)
		p.Add("c")
		assert.Equal(t, []string{"b", "c"}, p.took(), "G7 is behind the pass")
		assert.Equal(t, []string{"c"}, keys(gates, gate.G7))
		for range 100 {
			p.Add("c")
		}
		p.Add("d")
		assert.Empty(t, p.took(), "the one worker waits")
		assert.True(t, p.Snapshot().Processing[0].Dirty)
		gates.Step(gate.G7)
		assert.Equal(t, []string{"d", "c"}, p.took(), "one more pass for a hundred Adds")
		gates.RunTo(condition(t, "gate==G5 && key~e"))
		assert.Empty(t, p.took())
		p.Add("f")
		p.Add("e")
		assert.Equal(t, []string{"f"}, p.took())
		assert.Equal(t, []string{"e"}, keys(gates, gate.G5))
	})
}

func TestGatesHoldNoLockOfAWorkQueue(t *testing.T) {
	for _, id := range []gate.ID{gate.G5, gate.G7} {
		t.Run(string(id), func(t *testing.T) {
			forms(t, func(t *testing.T, set gears.Set) {
				gates := gate.New(t.Context(), recorder(t))
				p := startPool(t, gates, set, 2)
				gates.Close(id, gate.Condition{})
				p.Add("a")
				p.Add("b")
				synctest.Wait()
				require.ElementsMatch(t, []string{"a", "b"}, keys(gates, id))
				answers(t, "Add", func() { p.Add("c") })
				answers(t, "AddAfter", func() { p.AddAfter("d", time.Second) })
				answers(t, "AddRateLimited and Forget", func() { p.AddRateLimited("a"); p.Forget("a") })
				answers(t, "Snapshot", func() { p.Snapshot() })
				p.took()
				answers(t, "ShutDownWithDrain", p.ShutDownWithDrain)
				answers(t, "the workers' end", p.working.Wait)
				assert.Contains(t, p.took(), "c", "what was queued is still done")
			})
		})
	}
}

// cluster is a namespace controller with gates.
type cluster struct {
	*nsctltest.Cluster
	gates      *gate.Gates
	controller *nsctl.Controller
	cancel     context.CancelFunc
	ended      chan struct{}
}

func startCluster(t *testing.T, set gears.Set) *cluster {
	c := &cluster{Cluster: nsctltest.NewCluster(), ended: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel, c.gates = cancel, gate.New(ctx, recorder(t))
	server := restclienttest.NewServer(t, c.Cluster).Config()
	server.QPS, server.MaxRetries = -1, -1
	client, err := restclient.New(gate.HoldRequests(c.gates, server))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	objects := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	namespaces := informer.NewSharedIndexInformer(informer.ListerWatcher[*api.Namespace](objects),
		gate.HoldInformer(c.gates, informer.Config[*api.Namespace]{
			Name: "namespaces", Gears: gears.Informer[*api.Namespace](set),
		}))
	newDeleter := gears.Choose(set, "nsctl", nsctlfast.NewDeleter, nsctl.NewDeleter)
	c.controller, err = nsctl.NewController(nsctl.Config{
		Informer: namespaces, PassTimeout: -1, NewQueue: gate.HoldQueue(c.gates, "namespace", set.NewQueue),
		Deleter: newDeleter(nsctl.DeleterConfig{
			Namespaces: objects, Content: nsctl.NewContentClient(client),
			Discovery: discovery.NewCached(discovery.NewWithConfig(client, discovery.Config{OnlyWhenReady: true})),
		}),
	})
	require.NoError(t, err)
	go func() {
		defer close(c.ended)
		informing, stop := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { _ = namespaces.Run(informing) })
		c.controller.Run(ctx)
		stop()
		running.Wait()
	}()
	return c
}

// Each request of a pass waits at G6: a namespace is emptied and removed step by step.
func TestGatesHoldRequestsOfADeleter(t *testing.T) {
	forms(t, func(t *testing.T, set gears.Set) {
		c := startCluster(t, set)
		c.AddNamespace("demo", true, api.FinalizerKubernetes)
		c.Put("configmaps.", "demo", "one")
		c.gates.Close(gate.G6, gate.Condition{})
		var verbs []string
		for range 500 {
			waiting, cancel := context.WithTimeout(t.Context(), time.Minute)
			err := await(waiting, c.gates, gate.G6)
			cancel()
			if err != nil {
				break
			}
			synctest.Wait()
			c.Log() // what was sent up to now
			time.Sleep(time.Minute)
			assert.Empty(t, c.Log(), "nothing is sent while a request waits")
			answers(t, "Snapshot", func() { c.controller.Snapshot() })
			for item, ok := c.gates.Step(gate.G6); ok; item, ok = c.gates.Step(gate.G6) {
				verbs = append(verbs, item.Verb+" "+item.Resource)
			}
			synctest.Wait()
		}
		c.AssertGone(t, "demo")
		for _, want := range []string{"get namespaces", "deletecollection configmaps", "update namespaces"} {
			assert.Contains(t, verbs, want)
		}
		answers(t, "the controller's end", func() { c.cancel(); <-c.ended })
	})
}

// A run ends although requests wait.
func TestGatesOpenAtTheEndOfTheRun(t *testing.T) {
	forms(t, func(t *testing.T, set gears.Set) {
		c := startCluster(t, set)
		c.AddNamespace("demo", true, api.FinalizerKubernetes)
		synctest.Wait()
		c.gates.Close(gate.G6, gate.Condition{})
		require.NoError(t, await(t.Context(), c.gates, gate.G6))
		began := time.Now()
		c.cancel()
		<-c.ended
		assert.Less(t, time.Since(began), time.Second)
		c.gates.Close(gate.G6, gate.Condition{})
		assert.NoError(t, c.gates.Wait(t.Context(), gate.Item{Gate: gate.G6}), "the gates stay open")
	})
}
