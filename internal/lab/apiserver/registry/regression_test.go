package registry_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// The objects of a resource that is no longer served must be deleted with its definition, or a
// later definition of the same name would find them again.
func TestObjectsThatAreNotServedGoWithTheirDefinition(t *testing.T) {
	w := newWorld(t)
	w.makeCronTabs()
	all := w.at("crontabs.stable.example.com", "default", "")
	w.make(all, `{"metadata":{"name":"old"}}`)
	w.make(all, `{"metadata":{"name":"held","finalizers":["a.b/c"]}}`)
	old, held := w.at("crontabs.stable.example.com", "default", "old"),
		w.at("crontabs.stable.example.com", "default", "held")
	_, err := w.Patch(ctx, w.crd("crontabs.stable.example.com"), func(o *api.Unstructured) (*api.Unstructured, error) {
		version := o.Nested("spec", "versions").([]any)[0].(map[string]any)
		version["served"] = false
		return o, nil
	}, none)
	require.NoError(t, err)
	_, served := w.catalog.Lookup(cronTab)
	require.False(t, served)

	w.delete(w.crd("crontabs.stable.example.com"), api.DeleteOptions{})
	assert.False(t, w.exists(old))
	assert.True(t, w.exists(w.crd("crontabs.stable.example.com")), "an object with a finalizer holds it")
	_, err = w.patch(held, `{"metadata":{"finalizers":null}}`)
	require.NoError(t, err)
	assert.False(t, w.exists(w.crd("crontabs.stable.example.com")))

	w.makeCronTabs()
	assert.Empty(t, w.list(all, api.ListOptions{}).Items)
}

// While an APIService changes, its group must stay in discovery: otherwise a namespace controller
// concludes that nothing is left.
func TestAnUnavailableGroupStaysInDiscovery(t *testing.T) {
	w := newWorld(t)
	group := api.GroupVersion{Group: "metrics.example.com", Version: "v1beta1"}
	service := w.apiService("v1beta1.metrics.example.com")
	w.make(w.apiService(""),
		`{"metadata":{"name":"v1beta1.metrics.example.com"},"spec":{"group":"metrics.example.com","version":"v1beta1",
		"groupPriorityMinimum":100,"versionPriority":10,"service":{"name":"nope","namespace":"default"}}}`)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 500 {
			_, err := w.Patch(ctx, service,
				merge(`{"metadata":{"annotations":{"i":"`+strings.Repeat("x", i%7)+`"}}}`), none)
			assert.NoError(t, err)
		}
	}()
	for {
		select {
		case <-done:
			_, err := w.patch(service, `{"spec":{"service":null}}`)
			require.NoError(t, err)
			assert.False(t, w.unavailable(group), "an APIService that becomes local announces no other server")
			return
		default:
			if !w.unavailable(group) {
				<-done
				require.Fail(t, "the group disappeared")
			}
		}
	}
}

// The namespace may close between the check and the write, for example while an admission webhook
// runs. The guard, which runs with the write, decides.
func TestNothingSlipsIntoAPlaceThatCloses(t *testing.T) {
	var meanwhile func()
	w := newWorld(t, func(c *registry.Config) {
		c.Admit = func(_ context.Context, a registry.Attributes) error {
			if act := meanwhile; act != nil && a.Verb == "create" {
				meanwhile = nil
				act()
			}
			return nil
		}
	})
	w.make(w.ns(""), `{"metadata":{"name":"n"}}`)
	content := w.at("configmaps", "n", "")
	meanwhile = func() { w.delete(w.ns("n"), api.DeleteOptions{}) }
	_, err := w.Create(ctx, content, tree(`{"metadata":{"name":"a"}}`), none)
	assert.True(t, api.IsNamespaceTerminating(err), "%v", err)

	w.make(w.ns(""), `{"metadata":{"name":"m"}}`)
	content.Namespace = "m"
	meanwhile = func() {
		w.delete(w.ns("m"), api.DeleteOptions{})
		_, err := w.Patch(ctx, w.ns("m", "finalize"), func(o *api.Unstructured) (*api.Unstructured, error) {
			return o, o.SetNested([]any{}, "spec", "finalizers")
		}, none)
		require.NoError(t, err)
	}
	_, err = w.Create(ctx, content, tree(`{"metadata":{"name":"a"}}`), none)
	assert.True(t, api.IsNotFound(err), "%v", err)

	w.makeCronTabs()
	tabs := w.at("crontabs.stable.example.com", "default", "")
	w.make(tabs, `{"metadata":{"name":"held","finalizers":["a.b/c"]}}`)
	meanwhile = func() { w.delete(w.crd("crontabs.stable.example.com"), api.DeleteOptions{}) }
	_, err = w.Create(ctx, tabs, tree(`{"metadata":{"name":"late"}}`), none)
	assert.True(t, api.IsForbidden(err), "%v", err)
	assert.Len(t, w.list(content, api.ListOptions{}).Items, 0)
}

// A DELETE without a grace period marks a pod and then removes it. If another client removes the
// pod in between and a user creates it again, the new pod is another object and stays.
func TestADeletionSparesAPodThatIsCreatedAgain(t *testing.T) {
	meanwhile := func(string, *store.Object) {}
	w := newWorld(t, func(c *registry.Config) {
		c.Store = store.New(store.Config{Committed: func(prefix string, e store.Event) {
			if e.Type == api.WatchModified {
				meanwhile(prefix, e.Object)
			}
		}})
	})
	p := w.at("pods", "default", "p")
	old := w.make(p, pod)
	var again *store.Object
	meanwhile = func(prefix string, marked *store.Object) {
		meanwhile = func(string, *store.Object) {}
		_, removed := w.config.Store.Collection(prefix).Delete(marked)
		require.True(t, removed)
		again = w.make(p, pod)
	}
	last, gone := w.delete(p, api.DeleteOptions{GracePeriodSeconds: ptr(int64(0))})
	require.NotNil(t, again, "nothing happened between the two steps")
	assert.True(t, gone)
	assert.Equal(t, old.UID, last.UID, "the answer is the pod that was deleted")
	require.True(t, w.exists(p), "the deletion of a pod removed another one of the same name")
	assert.Equal(t, again.UID, w.get(p).GetUID())
}
