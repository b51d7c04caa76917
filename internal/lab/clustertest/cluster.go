// Package clustertest is a cluster in a bubble of virtual time, for tests of controllers: the API
// server in memory with its kubelet and its collector at the other end of pipes, clients that can
// be killed at any request, and informers with any gears.
package clustertest

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/controller/gears"
	"orrery/examples/apps"
	"orrery/informer"
	"orrery/internal/lab/apiserver"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
	"orrery/wait"
)

// ControllerUser is the user name of the controllers of [Cluster.Client], so that faults can target
// them.
const ControllerUser = "system:kube-controller-manager"

const controllerToken = "the-controllers-token"

// Cluster is an API server and an administrator.
type Cluster struct {
	Server *apiserver.Server
	// Killer intercepts the controllers' requests.
	Killer *Killer

	// Link is the connection between clients and server.
	Link *restclienttest.Server

	t     testing.TB
	admin *restclient.Client
}

// New starts a cluster with one node, see [Start].
func New(t testing.TB) *Cluster { return Start(t, apiserver.Config{}, nil) }

// Bare is the configuration of a server whose objects only clients change.
var Bare = apiserver.Config{NoKubelet: true, NoCollector: true}

// Start starts a cluster that runs until the test ends. It must be called in a synctest bubble.
// front, if not nil, returns a handler that stands before the server.
func Start(t testing.TB, config apiserver.Config, front func(server http.Handler) http.Handler) *Cluster {
	t.Helper()
	tokens := map[string]apiserver.User{
		controllerToken: {Name: ControllerUser, Groups: []string{apiserver.GroupMasters}},
	}
	maps.Copy(tokens, config.Tokens)
	config.Tokens = tokens
	server, err := apiserver.New(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })
	handler := server.Handler()
	if front != nil {
		handler = front(handler)
	}
	c := &Cluster{Server: server, Killer: &Killer{server: handler}, t: t}
	c.Link = restclienttest.NewServer(t, c.Killer)
	c.admin = c.client(server.Token())
	return c
}

func (c *Cluster) client(token string, changes ...func(*restclient.Config)) *restclient.Client {
	c.t.Helper()
	login := func(config *restclient.Config) { config.Credentials = restclienttest.Bearer(token) }
	return c.Link.Client(append(changes, login)...)
}

// Admin returns the administrator's client.
func (c *Cluster) Admin() *restclient.Client { return c.admin }

// Client returns a new client of [ControllerUser]. Each change is applied to its configuration.
func (c *Cluster) Client(changes ...func(*restclient.Config)) *restclient.Client {
	c.t.Helper()
	return c.client(controllerToken, changes...)
}

// Collection returns the informer of a resource over all namespaces, and its clients.
func Collection[T apps.Owned](client *restclient.Client, resource api.GroupVersionResource,
	set gears.Set) apps.Collection[T] {
	typed := restclient.Typed[T](client, resource, "")
	return apps.NewCollection(informer.NewSharedIndexInformer(typed, informer.Config[T]{
		Name: resource.Resource, Gears: gears.Informer[T](set),
	}), typed)
}

// Fault injects a fault into the server and returns a function that removes it.
func (c *Cluster) Fault(order string) (heal func()) {
	c.t.Helper()
	id, err := c.Server.Faults().Add(order)
	require.NoError(c.t, err)
	return func() { c.Server.Faults().Remove(id) }
}

// ControllerFault injects a fault that only the controllers of [Cluster.Client] meet.
func (c *Cluster) ControllerFault(order string) (heal func()) {
	c.t.Helper()
	return c.Fault(order + ",user=" + ControllerUser)
}

// Request sends a request as the administrator. A patch is a merge patch.
func (c *Cluster) Request(method, path, body string) ([]byte, error) {
	request := restclient.Request{Verb: method, Path: path, ContentType: "application/json"}
	if method == http.MethodPatch {
		request.ContentType = string(api.MergePatchType)
	}
	if body != "" {
		request.Body = []byte(body)
	}
	var answer []byte
	err := c.admin.Do(context.Background(), request, &answer)
	return answer, err
}

// Must sends a request that must succeed.
func (c *Cluster) Must(method, path, body string) []byte {
	c.t.Helper()
	answer, err := c.Request(method, path, body)
	require.NoError(c.t, err, "%s %s", method, path)
	return answer
}

// Get reads an object or a list.
func Get[T any](c *Cluster, path string) (object T) {
	c.t.Helper()
	require.NoError(c.t, json.Unmarshal(c.Must(http.MethodGet, path, ""), &object))
	return object
}

// Find reads an object, nil if there is none.
func Find[T any](c *Cluster, path string) (object *T) {
	c.t.Helper()
	answer, err := c.Request(http.MethodGet, path, "")
	if api.IsNotFound(err) {
		return nil
	}
	require.NoError(c.t, err)
	require.NoError(c.t, json.Unmarshal(answer, &object))
	return object
}

// Within waits until is returns true.
func (c *Cluster) Within(limit time.Duration, what string, is func() bool) {
	c.t.Helper()
	for began := time.Now(); !is(); time.Sleep(time.Second) {
		require.Less(c.t, time.Since(began), limit, what)
	}
}

// Run runs functions concurrently. The channel is closed when all have returned.
func Run(ctx context.Context, functions ...func(context.Context) error) (ended <-chan struct{}) {
	var running wait.Group
	for _, function := range functions {
		running.StartWithContext(ctx, func(ctx context.Context) { _ = function(ctx) })
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		running.Wait()
	}()
	return done
}

// Start is [Run] until kill is called, which does not wait, at the latest until the test ends.
func (c *Cluster) Start(functions ...func(context.Context) error) (kill context.CancelFunc, ended <-chan struct{}) {
	ctx, kill := context.WithCancel(context.Background())
	ended = Run(ctx, functions...)
	c.t.Cleanup(func() { kill(); <-ended })
	return kill, ended
}

// WithEachGears runs a test with the textbook gears and with the fast ones, each in a bubble.
func WithEachGears(t *testing.T, test func(t *testing.T, set gears.Set)) {
	t.Helper()
	for _, form := range []string{gears.Textbook, gears.Fast} {
		t.Run(form, func(t *testing.T) {
			set, err := gears.Parse(form)
			require.NoError(t, err)
			synctest.Test(t, func(t *testing.T) { test(t, set) })
		})
	}
}

// Gizmos is the definition of a namespaced custom type.
const Gizmos = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
	"metadata":{"name":"gizmos.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
	"names":{"plural":"gizmos","singular":"gizmo","kind":"Gizmo","listKind":"GizmoList"},
	"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`

// Watches counts the watches at a server by path. The zero value works.
type Watches struct {
	mu         sync.Mutex
	open, most map[string]int // now, and at a time; guarded by mu
}

// Counted is in front of the server, see [Start].
func (w *Watches) Counted(server http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			w.opened(r.URL.Path, 1)
			defer w.opened(r.URL.Path, -1)
		}
		server.ServeHTTP(out, r)
	})
}

func (w *Watches) opened(path string, by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open, w.most = map[string]int{}, map[string]int{}
	}
	w.open[path] += by
	w.most[path] = max(w.most[path], w.open[path])
}

// Open returns how many watches of each path are open. Paths without one are missing.
func (w *Watches) Open() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	open := maps.Clone(w.open)
	maps.DeleteFunc(open, func(_ string, n int) bool { return n == 0 })
	return open
}

// Most returns how many watches of each path were open at a time.
func (w *Watches) Most() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.most)
}
