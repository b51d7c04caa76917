package integration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/informer"
	"orrery/internal/lab/apiserver"
	"orrery/internal/lab/apiserver/store"
	"orrery/nsctl"
	"orrery/nsctl/fast"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
	"orrery/restclient/restclienttest"
)

// cluster is the built-in API server with its kubelet and its collector, and the namespace
// controller wired as in "orrery run", on the two ends of a pipe.
type cluster struct {
	t          *testing.T
	server     *apiserver.Server
	admin      *restclient.Client
	controller *restclient.Client
	began      time.Time
	stop       func()
}

// controllerUser is the controller's user name, so that faults can target it.
const controllerUser = "controller"

// inCluster runs a test in a bubble with a cluster, and checks that it leaves no goroutines.
func inCluster(t *testing.T, play func(c *cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		defer c.stop()
		play(c)
	})
}

func newCluster(t *testing.T) *cluster {
	server, err := apiserver.New(apiserver.Config{Tokens: map[string]apiserver.User{
		"the-controllers-token": {Name: controllerUser, Groups: []string{apiserver.GroupMasters}},
	}})
	require.NoError(t, err)
	link := restclienttest.NewServer(t, server.Handler())
	client := func(token string) *restclient.Client {
		return link.Client(func(c *restclient.Config) { c.Credentials = restclienttest.Bearer(token) })
	}
	c := &cluster{t: t, server: server, admin: client(server.Token()), controller: client("the-controllers-token"), began: time.Now()}

	namespaces := restclient.Typed[*api.Namespace](c.controller, api.NamespacesResource, "")
	factory := &informer.SharedInformerFactory{}
	shared := informer.InformerFor(factory, "namespaces", func(time.Duration) *informer.SharedIndexInformer[*api.Namespace] {
		return informer.NewSharedIndexInformer(namespaces, informer.Config[*api.Namespace]{Name: "namespaces"})
	})
	controller, err := nsctl.NewController(nsctl.Config{
		Informer: shared,
		Deleter: fast.NewDeleter(nsctl.DeleterConfig{
			Namespaces: namespaces,
			Content:    nsctl.NewContentClient(c.controller),
			Discovery:  discovery.NewCached(discovery.NewWithConfig(c.controller, discovery.Config{OnlyWhenReady: true})),
		}),
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	require.NoError(t, factory.Start(ctx))
	go func() {
		defer close(ended)
		controller.Run(ctx)
	}()
	c.stop = func() {
		cancel()
		<-ended
		factory.Shutdown()
		require.NoError(t, server.Stop(context.Background()))
	}
	return c
}

// fault injects a fault and returns a function that removes it.
func (c *cluster) fault(order string) (heal func()) {
	c.t.Helper()
	id, err := c.server.Faults().Add(order)
	require.NoError(c.t, err)
	return func() { c.server.Faults().Remove(id) }
}

// request sends a request as the administrator and returns the response.
func (c *cluster) request(method, path, contentType, body string) ([]byte, error) {
	r := restclient.Request{Verb: method, Path: path, ContentType: contentType}
	if body != "" {
		r.Body = []byte(body)
	}
	var answer []byte
	err := c.admin.Do(context.Background(), r, &answer)
	return answer, err
}

// must sends a request that must succeed.
func (c *cluster) must(method, path, body string) {
	c.t.Helper()
	contentType := "application/json"
	if method == http.MethodPatch {
		contentType = string(api.MergePatchType)
	}
	_, err := c.request(method, path, contentType, body)
	require.NoError(c.t, err, "%s %s", method, path)
}

// fill creates a namespace with objects of several types.
func (c *cluster) fill(name string) {
	c.t.Helper()
	c.must("POST", "/api/v1/namespaces", fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
	for _, kind := range []string{"configmaps", "secrets", "serviceaccounts"} {
		for i := range 3 {
			c.must("POST", "/api/v1/namespaces/"+name+"/"+kind, fmt.Sprintf(`{"metadata":{"name":"x%d"}}`, i))
		}
	}
	c.must("POST", "/apis/coordination.k8s.io/v1/namespaces/"+name+"/leases", `{"metadata":{"name":"x"}}`)
	c.must("POST", "/apis/apps/v1/namespaces/"+name+"/deployments", `{"metadata":{"name":"web"},"spec":{"replicas":0,`+
		`"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
}

// pod creates a pod with a grace period, and waits until it runs.
func (c *cluster) pod(namespace, name string, grace int) {
	c.t.Helper()
	c.must("POST", "/api/v1/namespaces/"+namespace+"/pods", fmt.Sprintf(
		`{"metadata":{"name":%q},"spec":{"terminationGracePeriodSeconds":%d,"containers":[{"name":"c","image":"i"}]}}`, name, grace))
	c.within(time.Minute, "the pod runs", func() bool {
		body, err := c.request("GET", "/api/v1/namespaces/"+namespace+"/pods/"+name, "", "")
		require.NoError(c.t, err)
		var pod api.Pod
		require.NoError(c.t, json.Unmarshal(body, &pod))
		return pod.Status.Phase == api.PodRunning
	})
}

// custom creates the custom resource gizmos.
func (c *cluster) custom() {
	c.t.Helper()
	c.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"gizmos.example.com"},"spec":{
		"group":"example.com","scope":"Namespaced","names":{"plural":"gizmos","singular":"gizmo","kind":"Gizmo","listKind":"GizmoList"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`)
}

func (c *cluster) deleteNamespace(name string) {
	c.t.Helper()
	c.must("DELETE", "/api/v1/namespaces/"+name, "")
	c.began = time.Now()
}

// namespace returns a namespace, or nil if it is gone.
func (c *cluster) namespace(name string) *api.Namespace {
	c.t.Helper()
	body, err := c.request("GET", "/api/v1/namespaces/"+name, "", "")
	if api.IsNotFound(err) {
		return nil
	}
	require.NoError(c.t, err)
	n := new(api.Namespace)
	require.NoError(c.t, json.Unmarshal(body, n))
	return n
}

// within waits until is returns true, and returns the time since the deletion.
func (c *cluster) within(limit time.Duration, what string, is func() bool) time.Duration {
	c.t.Helper()
	for start := time.Now(); !is(); time.Sleep(100 * time.Millisecond) {
		require.Less(c.t, time.Since(start), limit, what)
	}
	return time.Since(c.began)
}

// gone waits until a namespace is gone, and checks that no object of it is left.
func (c *cluster) gone(name string, limit time.Duration) time.Duration {
	c.t.Helper()
	took := c.within(limit, "the namespace goes", func() bool { return c.namespace(name) == nil })
	require.Empty(c.t, c.left(name))
	return took
}

// left returns the objects in a namespace's store as kind/name.
func (c *cluster) left(namespace string) []string {
	var found []string
	for _, d := range c.server.Catalog().All() {
		view, err := c.server.Store().Collection(d.Prefix).View(0)
		require.NoError(c.t, err)
		view.Ascend(namespace, store.Key{}, func(o *store.Object) bool {
			if o.Key.Namespace == namespace {
				found = append(found, d.Prefix+"/"+o.Key.Name)
			}
			return true
		})
	}
	slices.Sort(found)
	return slices.Compact(found) // versions of a type share their objects
}

// says returns the message of a condition that is true, or "".
func (c *cluster) says(name string, condition api.NamespaceConditionType) string {
	c.t.Helper()
	n := c.namespace(name)
	require.NotNil(c.t, n, "the namespace has gone")
	require.Equal(c.t, api.NamespaceTerminating, n.Status.Phase)
	require.NotNil(c.t, n.DeletionTimestamp)
	for _, one := range n.Status.Conditions {
		if one.Type == condition && one.Status == api.ConditionTrue {
			return one.Message
		}
	}
	return ""
}

// stuck waits until a condition is true and has a message, and checks that the namespace stays.
func (c *cluster) stuck(name string, condition api.NamespaceConditionType) string {
	c.t.Helper()
	message := ""
	c.within(time.Minute, string(condition), func() bool {
		message = c.says(name, condition)
		return message != ""
	})
	time.Sleep(20 * time.Minute)
	require.Equal(c.t, message, c.says(name, condition), "twenty minutes later")
	return message
}
