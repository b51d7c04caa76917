package gate_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/internal/lab/demo/gate"
	"orrery/queue"
	"orrery/restclient"
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

// sent is a transport that notes what reaches it.
type sent []string

func (s *sent) RoundTrip(request *http.Request) (*http.Response, error) {
	*s = append(*s, request.URL.Path)
	return nil, request.Context().Err()
}

// A request about a resource waits at G6 until its step. Others pass.
func TestGatesOfAClient(t *testing.T) {
	for request, want := range map[string]gate.Item{
		"GET /api/v1/namespaces/demo": {Verb: "get", Resource: "namespaces", Key: "demo"},
		"PUT /api/v1/namespaces/demo/finalize": {
			Verb: "update", Resource: "namespaces", Key: "demo",
		},
		"GET /api/v1/namespaces?watch=true": {Verb: "watch", Resource: "namespaces"},
		"GET /apis/apps/v1/deployments":     {Verb: "list", Resource: "deployments"},
		"DELETE /api/v1/namespaces/demo/configmaps": {
			Verb: "deletecollection", Resource: "configmaps", Key: "demo",
		},
		"GET /api/v1": {},
	} {
		t.Run(request, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancel(t.Context())
				gates, reached := gate.New(ctx, recorder(t)), &sent{}
				client := gate.HoldRequests(gates, restclient.Config{}).WrapTransport(reached)
				send := func() {
					method, path, _ := strings.Cut(request, " ")
					request, err := http.NewRequestWithContext(t.Context(), method, "https://server"+path, nil)
					assert.NoError(t, err)
					_, _ = client.RoundTrip(request)
				}
				gates.Close(gate.G6, gate.Condition{})
				go send()
				synctest.Wait()
				if want.Verb != "" {
					assert.Empty(t, *reached, "it waits")
					item, _ := gates.Step(gate.G6)
					want.Gate = gate.G6
					assert.Equal(t, want, item)
					synctest.Wait()
				}
				assert.Len(t, *reached, 1)
				go send()
				synctest.Wait()
				end()
				synctest.Wait()
				assert.Len(t, *reached, 2, "the gates open with the end of the run")
				gates.Close(gate.G6, gate.Condition{})
				send()
				assert.Len(t, *reached, 3, "they stay open")
			})
		})
	}
}
