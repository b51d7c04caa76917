package garbagecollector_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"orrery/controller"
	"orrery/controller/gears"
	"orrery/examples/garbagecollector"
	"orrery/informer"
	"orrery/internal/lab/clustertest"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/discovery"
)

// world is a server in memory without a collector of its own, and the collector under test. Its
// objects are ConfigMaps in the namespace default.
type world struct {
	*clustertest.Cluster
	t      *testing.T
	gears  gears.Set
	adjust func(*garbagecollector.Config) // before the collector starts; nil: nothing
	cancel func()                         // stops the collector at once
	kill   func()                         // the same, and waits

	unserved atomic.Value // for paths with this prefix the server returns 404; "": none

	mu   sync.Mutex
	told []string
}

// inWorld runs a test with each set of gears.
func inWorld(t *testing.T, play func(w *world)) {
	t.Helper()
	clustertest.WithEachGears(t, func(t *testing.T, set gears.Set) {
		w := newWorld(t, set)
		w.start(nil)
		play(w)
	})
}

func newWorld(t *testing.T, set gears.Set) *world {
	w := &world{t: t, gears: set}
	w.unserved.Store("")
	w.Cluster = clustertest.Start(t, clustertest.Bare, func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if prefix := w.unserved.Load().(string); prefix != "" && strings.HasPrefix(r.URL.Path, prefix) {
				http.NotFound(out, r)
				return
			}
			server.ServeHTTP(out, r)
		})
	})
	return w
}

// start starts a collector. request, if not nil, is called before each of its requests.
func (w *world) start(request func(verb string)) {
	trace := &restclient.Trace{}
	if request != nil {
		trace.RequestStart = func(info restclient.RequestInfo) { request(info.Verb) }
	}
	client := w.Client(func(c *restclient.Config) { c.Codec, c.Trace = w.gears.Codec(), trace })
	config := garbagecollector.Config{
		Discovery: discovery.NewWithConfig(client, discovery.Config{OnlyWhenReady: true}),
		Heads: func(resource api.GroupVersionResource, namespace string) garbagecollector.Heads {
			return restclient.Metadata(client, resource, namespace)
		},
		Informer: func(api.GroupVersionResource) (made informer.Config[*api.PartialObjectMetadata]) {
			made.Gears = gears.Informer[*api.PartialObjectMetadata](w.gears)
			return made
		},
		Worker: controller.PoolConfig{NewQueue: w.gears.NewQueue},
		Trace: &garbagecollector.Trace{
			Wrote: func(o api.ObjectReference, what string) { w.note("%s %s", o.Name, what) },
			InvalidNamespace: func(o api.ObjectReference, owner api.OwnerReference) {
				w.note("invalid namespace %s %s", o.Name, owner.Name)
			},
			Forbidden: func(error) { w.note("forbidden") },
			Refused:   func(r api.GroupVersionResource, _ error) { w.note("refused %s", r.Resource) },
		},
	}
	if w.adjust != nil {
		w.adjust(&config)
	}
	controller := garbagecollector.NewController(config)
	cancel, ended := w.Start(func(ctx context.Context) error {
		controller.RunWithin(ctx, ctx)
		return nil
	})
	w.cancel = cancel
	w.kill = func() { cancel(); <-ended; client.Close() }
	w.rest()
}

func (w *world) note(format string, arguments ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, fmt.Sprintf(format, arguments...))
}

// hear returns the trace calls of the collector since the last call.
func (w *world) hear() []string {
	w.rest()
	w.mu.Lock()
	defer w.mu.Unlock()
	told := w.told
	w.told = nil
	return told
}

// rest waits until the state is stable.
func (w *world) rest() {
	time.Sleep(10 * time.Second)
	synctest.Wait()
}

func (w *world) resource(plural string) *restclient.Resource[*api.Unstructured] {
	group, namespace := "", "default"
	switch plural {
	case "nodes":
		namespace = ""
	case "gizmos":
		group = "example.com"
	case "customresourcedefinitions":
		group, namespace = "apiextensions.k8s.io", ""
	}
	gvr := api.GroupVersionResource{Group: group, Version: "v1", Resource: plural}
	return restclient.Dynamic(w.Admin(), gvr, namespace)
}

// owned returns an owner reference, by default to a ConfigMap and blocking: owned("Node/n1",
// uid), owned("-loose", uid).
func owned(what, uid string) map[string]any {
	name, loose := strings.CutPrefix(what, "-")
	kind, apiVersion := "ConfigMap", "v1"
	if k, n, ok := strings.Cut(name, "/"); ok {
		kind, name = k, n
	}
	if kind == "Gizmo" {
		apiVersion = "example.com/v1"
	}
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "name": name, "uid": uid,
		"blockOwnerDeletion": !loose}
}

// in creates an object and returns its UID.
func (w *world) in(resource *restclient.Resource[*api.Unstructured], name string, owners ...any) string {
	w.t.Helper()
	metadata := map[string]any{"name": name, "labels": map[string]any{"a": "b"}}
	if len(owners) > 0 {
		metadata["ownerReferences"] = owners
	}
	o := &api.Unstructured{Object: map[string]any{"metadata": metadata}}
	gv := resource.GroupVersionResource().GroupVersion()
	o.Object["apiVersion"], o.Object["kind"] = gv.String(), map[string]string{
		"configmaps": "ConfigMap", "nodes": "Node", "gizmos": "Gizmo",
		"secrets": "Secret"}[resource.GroupVersionResource().Resource]
	created, err := resource.Create(context.Background(), o, api.UpdateOptions{})
	require.NoError(w.t, err)
	return created.GetUID()
}

func (w *world) create(name string, owners ...any) string {
	w.t.Helper()
	return w.in(w.resource("configmaps"), name, owners...)
}

func (w *world) delete(name string, policy api.DeletePropagation) {
	w.t.Helper()
	w.deleteIn("configmaps", name, policy)
}

func (w *world) deleteIn(plural, name string, policy api.DeletePropagation) {
	w.t.Helper()
	options := api.DeleteOptions{PropagationPolicy: policy}
	require.NoError(w.t, w.resource(plural).Delete(context.Background(), name, options))
}

// find returns an object, nil if there is none.
func (w *world) find(plural, name string) *api.Unstructured {
	w.t.Helper()
	o, err := w.resource(plural).Get(context.Background(), name, api.GetOptions{})
	if api.IsNotFound(err) {
		return nil
	}
	require.NoError(w.t, err)
	return o
}

// ownedBy is metadata with a ConfigMap as the only owner, for merge.
func ownedBy(name, uid string) string {
	return fmt.Sprintf(`{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q,`+
		`"blockOwnerDeletion":true}]}`, name, uid)
}

// merge patches the metadata of a ConfigMap.
func (w *world) merge(name, head string) {
	w.t.Helper()
	w.Must("PATCH", "/api/v1/namespaces/default/configmaps/"+name, `{"metadata":`+head+`}`)
}

// names returns the ConfigMaps that exist once the state is stable.
func (w *world) names() []string {
	w.rest()
	return w.namesNow()
}

func (w *world) namesNow() []string {
	w.t.Helper()
	list, err := w.resource("configmaps").List(context.Background(), api.ListOptions{})
	require.NoError(w.t, err)
	names := []string{}
	for _, o := range list.Items {
		if o.GetName() != "kube-root-ca.crt" {
			names = append(names, o.GetName())
		}
	}
	slices.Sort(names)
	return names
}

func (w *world) get(name string) *api.Unstructured {
	w.t.Helper()
	o := w.find("configmaps", name)
	require.NotNil(w.t, o, name)
	return o
}

// defineGizmos creates a custom type.
func (w *world) defineGizmos() {
	w.t.Helper()
	w.Must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", clustertest.Gizmos)
	synctest.Wait()
}
