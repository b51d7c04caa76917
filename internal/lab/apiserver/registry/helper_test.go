package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// world is a registry with a store and a catalog.
type world struct {
	t       *testing.T
	store   *store.Store
	catalog *resources.Catalog
	config  registry.Config
	*registry.Registry
}

func newWorld(t *testing.T, configure ...func(*registry.Config)) *world {
	t.Helper()
	w := &world{t: t, store: store.New(store.Config{}), catalog: resources.NewCatalog()}
	w.config = registry.Config{Store: w.store, Catalog: w.catalog}
	for _, c := range configure {
		c(&w.config)
	}
	w.Registry = registry.New(w.config)
	return w
}

var (
	ctx  = context.Background()
	none = registry.WriteOptions{}
	dry  = registry.WriteOptions{DryRun: true}
)

// at returns a target, such as at("configmaps", "default", "a") or at("leases.coordination.k8s.io",
// "default", "").
func (w *world) at(resource, namespace, name string, subresource ...string) registry.Target {
	w.t.Helper()
	for _, d := range w.catalog.All() {
		if d.Qualified() == resource {
			t := registry.Target{Definition: d, Namespace: namespace, Name: name}
			if len(subresource) > 0 {
				t.Subresource = subresource[0]
			}
			return t
		}
	}
	require.FailNow(w.t, "no resource "+resource)
	return registry.Target{}
}

func (w *world) cm(name string) registry.Target { return w.at("configmaps", "default", name) }

func (w *world) ns(name string, subresource ...string) registry.Target {
	return w.at("namespaces", "", name, subresource...)
}

func tree(text string) *api.Unstructured {
	o := new(api.Unstructured)
	if err := json.Unmarshal([]byte(text), o); err != nil {
		panic(err)
	}
	return o
}

// make creates an object.
func (w *world) make(t registry.Target, text string) *store.Object {
	w.t.Helper()
	o, err := w.Create(ctx, t, tree(text), none)
	require.NoError(w.t, err)
	return o
}

// merge returns a JSON merge patch.
func merge(text string) func(*api.Unstructured) (*api.Unstructured, error) {
	return func(o *api.Unstructured) (*api.Unstructured, error) {
		patched, err := resources.ApplyPatch(api.MergePatchType, o.Object, []byte(text), nil)
		return &api.Unstructured{Object: patched}, err
	}
}

func (w *world) patch(t registry.Target, text string) (*api.Unstructured, error) {
	o, err := w.Patch(ctx, t, merge(text), none)
	if err != nil {
		return nil, err
	}
	return o.Decode(), nil
}

func (w *world) delete(t registry.Target, o api.DeleteOptions) (*store.Object, bool) {
	w.t.Helper()
	after, gone, err := w.Delete(ctx, t, o, none)
	require.NoError(w.t, err)
	return after, gone
}

func (w *world) get(t registry.Target) *api.Unstructured {
	w.t.Helper()
	o, err := w.Get(t, api.GetOptions{})
	require.NoError(w.t, err)
	return o.Decode()
}

func (w *world) exists(t registry.Target) bool {
	w.t.Helper()
	_, err := w.Get(t, api.GetOptions{})
	if !api.IsNotFound(err) {
		require.NoError(w.t, err)
	}
	return err == nil
}

// refused checks the code and the message, which are those of kube-apiserver.
func refused(t *testing.T, err error, code int, message string) *api.StatusError {
	t.Helper()
	status, ok := errors.AsType[*api.StatusError](err)
	require.True(t, ok, "%v is not a StatusError", err)
	assert.Equal(t, message, status.Status.Message)
	assert.Equal(t, code, status.Status.Code)
	return status
}

func ptr[T any](value T) *T { return &value }

func namesOf(p *registry.Page) []string {
	names := []string{}
	for _, o := range p.Items {
		names = append(names, o.Key.Name)
	}
	return names
}

// crontabs defines a custom resource.
const crontabs = `{"metadata":{"name":"crontabs.stable.example.com"},"spec":{"group":"stable.example.com","scope":"Namespaced",
	"names":{"plural":"crontabs","singular":"crontab","kind":"CronTab","listKind":"CronTabList","shortNames":["ct"]},
	"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
	"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

func (w *world) makeCronTabs() {
	w.make(w.at("customresourcedefinitions.apiextensions.k8s.io", "", ""), crontabs)
}
