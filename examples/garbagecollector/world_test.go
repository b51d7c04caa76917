package garbagecollector_test

import (
	"context"
	"encoding/json"
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

// places are the collections of the tests.
var places = map[string]struct{ path, version, kind string }{
	"configmaps": {"/api/v1/namespaces/default/configmaps", "v1", "ConfigMap"},
	"elsewhere":  {"/api/v1/namespaces/kube-system/configmaps", "v1", "ConfigMap"},
	"secrets":    {"/api/v1/namespaces/default/secrets", "v1", "Secret"},
	"nodes":      {"/api/v1/nodes", "v1", "Node"},
	"gizmos":     {"/apis/example.com/v1/namespaces/default/gizmos", "example.com/v1", "Gizmo"},
	"definitions": {"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "apiextensions.k8s.io/v1",
		"CustomResourceDefinition"},
}

// owned returns an owner reference, by default to a ConfigMap and blocking: owned("Node/n1",
// uid), owned("-loose", uid).
func owned(what, uid string) api.OwnerReference {
	name, loose := strings.CutPrefix(what, "-")
	kind, apiVersion, blocks := "ConfigMap", "v1", !loose
	if k, n, ok := strings.Cut(name, "/"); ok {
		kind, name = k, n
	}
	if kind == "Gizmo" {
		apiVersion = "example.com/v1"
	}
	return api.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, BlockOwnerDeletion: &blocks}
}

// in creates an object and returns its UID.
func (w *world) in(plural, name string, owners ...api.OwnerReference) string {
	w.t.Helper()
	place := places[plural]
	object := &api.PartialObjectMetadata{ObjectMeta: api.ObjectMeta{Name: name, OwnerReferences: owners}}
	object.APIVersion, object.Kind = place.version, place.kind
	text, err := json.Marshal(object)
	require.NoError(w.t, err)
	require.NoError(w.t, json.Unmarshal(w.Must("POST", place.path, string(text)), object))
	return object.UID
}

func (w *world) create(name string, owners ...api.OwnerReference) string {
	w.t.Helper()
	return w.in("configmaps", name, owners...)
}

func (w *world) delete(name string, policy api.DeletePropagation) {
	w.t.Helper()
	w.deleteIn("configmaps", name, policy)
}

func (w *world) deleteIn(plural, name string, policy api.DeletePropagation) {
	w.t.Helper()
	w.Must("DELETE", places[plural].path+"/"+name, fmt.Sprintf(`{"propagationPolicy":%q}`, policy))
}

// find returns an object, nil if there is none.
func (w *world) find(plural, name string) *api.PartialObjectMetadata {
	w.t.Helper()
	return clustertest.Find[api.PartialObjectMetadata](w.Cluster, places[plural].path+"/"+name)
}

func (w *world) get(name string) *api.PartialObjectMetadata {
	w.t.Helper()
	o := w.find("configmaps", name)
	require.NotNil(w.t, o, name)
	return o
}

// merge patches the metadata of a ConfigMap.
func (w *world) merge(name, head string) {
	w.t.Helper()
	w.Must("PATCH", places["configmaps"].path+"/"+name, `{"metadata":`+head+`}`)
}

// own gives a ConfigMap other owners, and a finalizer if it is not "".
func (w *world) own(name, finalizer string, owners ...string) {
	w.t.Helper()
	head := api.ObjectMeta{}
	if finalizer != "" {
		head.Finalizers = []string{finalizer}
	}
	for _, owner := range owners {
		uid := w.get(strings.TrimPrefix(owner, "-")).UID
		head.OwnerReferences = append(head.OwnerReferences, owned(owner, uid))
	}
	patch, err := json.Marshal(head)
	require.NoError(w.t, err)
	w.merge(name, string(patch))
}

// objects creates ConfigMaps, each with its owners, of which those with a dash do not block it:
// "owner; child: owner; loose: -owner". A finalizer stands behind a name: "child!orphan: owner". An
// owner may come later.
func (w *world) objects(text string) {
	w.t.Helper()
	all := strings.Split(text, "; ")
	part := func(one string) (name, finalizer string, owners []string) {
		name, rest, _ := strings.Cut(one, ":")
		name, finalizer, _ = strings.Cut(name, "!")
		return name, finalizer, strings.Fields(rest)
	}
	for _, one := range all {
		name, _, _ := part(one)
		w.create(name)
	}
	for _, one := range all {
		if name, finalizer, owners := part(one); finalizer != "" || len(owners) > 0 {
			w.own(name, finalizer, owners...)
		}
	}
}

// state returns the ConfigMaps that exist once the state is stable, as objects reads them, without
// finalizers.
func (w *world) state() string {
	w.t.Helper()
	var all []string
	for _, name := range w.names() {
		owners := ""
		for _, owner := range w.get(name).OwnerReferences {
			owners += " " + owner.Name
		}
		if owners != "" {
			name += ":" + owners
		}
		all = append(all, name)
	}
	return strings.Join(all, "; ")
}

// names returns the ConfigMaps that exist once the state is stable.
func (w *world) names() []string {
	w.rest()
	return w.namesNow()
}

func (w *world) namesNow() []string {
	w.t.Helper()
	names := []string{}
	for _, o := range clustertest.Get[api.List[api.PartialObjectMetadata]](w.Cluster, places["configmaps"].path).Items {
		if o.Name != "kube-root-ca.crt" {
			names = append(names, o.Name)
		}
	}
	slices.Sort(names)
	return names
}

// defineGizmos creates a custom type.
func (w *world) defineGizmos() {
	w.t.Helper()
	w.Must("POST", places["definitions"].path, clustertest.Gizmos)
	synctest.Wait()
}
