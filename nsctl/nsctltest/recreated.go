package nsctltest

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// remove removes a namespace with all its content, as when another controller has finished it.
func (c *Cluster) remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gone := *c.namespaces[name]
	c.storeLocked(&gone, api.WatchDeleted)
	for _, namespaces := range c.content {
		delete(namespaces, name)
	}
}

// During a pass another controller finishes the namespace, and a user creates it again: what is in
// the new one stays.
func (s suite) APassSparesANamespaceThatIsCreatedAgain(t *testing.T) {
	const secrets, services, gadgets = "secrets.", "services.", "gadgets.odd.example"
	const apps, leases = "/apis/apps/v1/namespaces/ns/", "leases.coordination.k8s.io"
	const core = "/api/v1/namespaces/ns/"
	tests := map[string]struct {
		during string   // the request during which that happens
		old    []string // the types of which the old namespace has an object "a"
		newer  string   // the type of the object of the new namespace
	}{
		"during discovery":     {"GET /apis", []string{"pods.", secrets}, secrets},
		"LIST of the pods":     {"GET " + core + "pods", []string{"pods.", secrets}, "pods."},
		"DELETE of the pods":   {"DELETE " + core + "pods", []string{"pods.", secrets}, secrets},
		"an empty type":        {"DELETE " + core + "configmaps", []string{"pods."}, secrets},
		"before the next type": {"DELETE " + core + "configmaps", []string{"configmaps.", secrets}, secrets},
		"after the last type":  {"DELETE " + apps + "deployments", []string{"deployments.apps"}, leases},
		"after a DELETE":       {"GET " + core + "configmaps", []string{"configmaps."}, "configmaps."},
		"one of two objects":   {"DELETE " + core + "services/a", []string{services}, services},
		"one by one, before":   {"DELETE " + core + "secrets", []string{secrets, services}, services},
		"unlisted objects":     {"DELETE /apis/odd.example/v1/namespaces/ns/gadgets", []string{gadgets}, gadgets},
	}
	for name, test := range tests {
		for _, terminating := range []bool{false, true} {
			BubbleRun(t, name, func(t *testing.T, c *Cluster) {
				c.Types["odd.example/v1"] = []string{"gadgets"}
				c.Verbs[gadgets] = []string{"delete", "deletecollection"}
				c.Verbs[services] = []string{"delete", "list"}
				c.Verbs["serviceaccounts."] = []string{"create"} // which would be asked between secrets and services
				c.AddNamespace("ns", true, "kubernetes")
				for _, resource := range test.old {
					c.Put(resource, "ns", "a")
					c.Put(resource, "ns", "b")
				}
				var recreated atomic.Bool
				method, path, _ := strings.Cut(test.during, " ")
				server := afterwards(c, method, path, func() {
					if !recreated.Swap(true) {
						c.remove("ns")
						c.AddNamespace("ns", terminating, "kubernetes")
						c.Put(test.newer, "ns", "b")
					}
				})
				// One type at a time: what is on its way to the server cannot be called back.
				deleter := s.newDeleter(t, server, func(config *nsctl.DeleterConfig) { config.Concurrency = 1 })
				err := deleter.Delete(t.Context(), "ns")
				require.True(t, recreated.Load(), "the pass never sent %s", test.during)
				if err != nil {
					var changed *nsctl.UIDChangedError
					require.ErrorAs(t, err, &changed, "want an error that says why the pass ended")
				}
				assert.Equal(t, []string{test.newer + "/b"}, c.Left("ns"),
					"an object of the new namespace was deleted")
				assert.Equal(t, []string{"kubernetes"}, c.Existing(t, "ns").Spec.Finalizers)
				assert.Empty(t, c.Existing(t, "ns").Status.Conditions, "the new namespace got the old one's report")
			})
		}
	}
}

// A namespace that goes during a pass is done: nothing else is asked of the server, and nothing has
// failed.
func (s suite) APassEndsWithItsNamespace(t *testing.T, c doomed) {
	c.Put("configmaps.", "ns", "a")
	c.Before("", "/apis", func() {
		c.remove("ns")
		c.Put("secrets.", "ns", "an object without a namespace")
	})
	deleter := s.newDeleter(t, c, func(config *nsctl.DeleterConfig) { config.Concurrency = 1 })
	require.NoError(t, deleter.Delete(t.Context(), "ns"))
	for _, request := range c.Log() {
		assert.False(t, strings.HasPrefix(request, http.MethodDelete), "%s: the namespace has gone", request)
	}
}

// The controller hears that the namespace has gone while a request of the pass hangs. The request
// is cut short, and the pass is no failure: whether the namespace is just gone, or is re-created
// and the watch shows only that.
func (s suite) TheEventOfItsEndEndsThePass(t *testing.T) {
	for name, again := range map[string]bool{"gone": false, "re-created": true} {
		BubbleRun(t, name, func(t *testing.T, c *Cluster) {
			c.AddNamespace("ns", true, "kubernetes")
			c.Put("secrets.", "ns", "s")
			c.Hang("", "/secrets")
			var mu sync.Mutex
			var ends []error
			r := StartController(t, c, s.New, func(config *nsctl.Config, deleter *nsctl.DeleterConfig) {
				deleter.Trace = &nsctl.Trace{ConditionsFailed: func(string, error) {
					t.Error("a namespace that has gone got a report")
				}}
				config.Trace = &nsctl.Trace{PassDone: func(_ string, _ time.Duration, _ int, err error) {
					mu.Lock()
					defer mu.Unlock()
					ends = append(ends, err)
				}}
			})
			time.Sleep(10 * time.Second)
			require.Contains(t, r.Snapshot().Active, "ns", "the pass waits for an answer")
			if again {
				c.AddNamespace("ns", false, "kubernetes")
			} else {
				c.remove("ns")
			}
			time.Sleep(time.Second)
			assert.Empty(t, r.Snapshot().Active, "the pass goes on without its namespace")
			assert.Zero(t, r.Deleting())
			r.Stop()
			assert.Equal(t, []error{nil}, ends, "nothing has failed, and nothing is tried again")
		})
	}
}

// The event of the namespace's end may come before the answer to the request that ended it.
func (s suite) TheEventDoesNotCutTheFinalizeRequestShort(t *testing.T, c doomed) {
	var mu sync.Mutex
	var finalized []error
	server := afterwards(c, "", "/finalize", func() { time.Sleep(time.Second) })
	r := StartController(t, server, s.New, func(_ *nsctl.Config, deleter *nsctl.DeleterConfig) {
		deleter.Trace = &nsctl.Trace{Finalized: func(_ string, err error) {
			mu.Lock()
			defer mu.Unlock()
			finalized = append(finalized, err)
		}}
	})
	time.Sleep(10 * time.Second)
	c.AssertGone(t, "ns")
	r.Stop()
	assert.Equal(t, []error{nil}, finalized, "the namespace was finalized, and the hook was told otherwise")
}

// A type is added, and a server that has not learnt of the deletion creates an object of it in the
// namespace; the grace period covers that. A discovery made meanwhile for another namespace does
// not list the type, although it is later than the deletion.
func (s suite) ATypeThatAppearsWithinTheGracePeriodIsSeen(t *testing.T, c *Cluster) {
	c.AddNamespace("first", true, "kubernetes")
	StartController(t, c, s.New, nil)
	time.Sleep(time.Second)
	c.AddNamespace("second", true, "kubernetes") // its first pass is at 6 s
	time.Sleep(4500 * time.Millisecond)
	assert.Nil(t, c.Namespace("first"), "its pass has discovered the types at 5 s")
	c.Define("late.example/v1", "gadgets")
	c.Put("gadgets.late.example", "second", "g")
	time.Sleep(time.Second)
	c.AssertGone(t, "second")
}

// The caller of Delete has waited until nothing can be created in the namespace, but may not know
// since when. An earlier discovery, made for another namespace, may be too old.
func (s suite) DeleteTrustsNoDiscoveryFromBeforeItsCall(t *testing.T, c *Cluster) {
	c.AddNamespace("first", true, "kubernetes")
	time.Sleep(2 * time.Second)
	c.AddNamespace("second", true, "kubernetes")
	d := s.newDeleter(t, c)
	time.Sleep(3 * time.Second)
	require.NoError(t, d.Delete(t.Context(), "first"))
	time.Sleep(time.Second)
	c.Define("late.example/v1", "gadgets")
	c.Put("gadgets.late.example", "second", "g")
	time.Sleep(time.Second)
	require.NoError(t, d.Delete(t.Context(), "second"))
	assert.Empty(t, c.Left("second"))
}
