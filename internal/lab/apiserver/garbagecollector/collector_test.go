package garbagecollector

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

func init() { checked = true }

// cluster is a registry with a collector that runs until the test ends. Its objects are ConfigMaps in the namespace default.
type cluster struct {
	t        testing.TB
	registry *registry.Registry
	catalog  *resources.Catalog
	told     func() []string
}

func start(t *testing.T, admit func(registry.Attributes) error) *cluster {
	c := &cluster{t: t}
	stop := c.run(admit)
	t.Cleanup(stop)
	return c
}

func (c *cluster) run(admit func(registry.Attributes) error) (stop func()) {
	c.catalog = resources.NewCatalog()
	c.registry = registry.New(registry.Config{Store: store.New(store.Config{}), Catalog: c.catalog, Admit: admit})
	told := make(chan string, 10000)
	trace := &Trace{
		Deleted: func(o registry.Target, policy api.DeletePropagation) {
			told <- fmt.Sprint("deleted ", o.Name, " ", policy)
		},
		Released: func(o registry.Target) { told <- "released " + o.Name },
		Finished: func(o registry.Target, finalizer string) { told <- "finished " + o.Name + " " + finalizer },
		Failed:   func(o registry.Target, err error) { told <- fmt.Sprint("failed ", o.Name, ": ", err) },
	}
	c.told = func() []string {
		synctest.Wait()
		var all []string
		for len(told) > 0 {
			all = append(all, <-told)
		}
		return all
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	collector := New(Config{Registry: c.registry, Catalog: c.catalog, Trace: trace})
	go func() { collector.Run(ctx); close(ended) }()
	synctest.Wait()
	return func() { cancel(); <-ended }
}

func (c *cluster) target(plural, name string) registry.Target {
	gvr := api.GroupVersionResource{Version: "v1", Resource: plural}
	d, ok := c.catalog.Lookup(gvr)
	require.True(c.t, ok, plural)
	t := registry.Target{Definition: d, Version: "v1", Name: name}
	if d.Namespaced {
		t.Namespace = "default"
	}
	return t
}

// owned is an owner reference.
func owned(kind, name, uid string, blocking bool) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": kind, "name": name, "uid": uid, "blockOwnerDeletion": blocking}
}

// create makes a ConfigMap with owners and returns its UID.
func (c *cluster) create(name string, references ...map[string]any) string {
	list := []any{}
	for _, r := range references {
		list = append(list, r)
	}
	o := &api.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name, "namespace": "default"}}}
	if len(list) > 0 {
		require.NoError(c.t, o.SetNested(list, "metadata", "ownerReferences"))
	}
	t := c.target("configmaps", "")
	stored, err := c.registry.Create(context.Background(), t, o, registry.WriteOptions{})
	require.NoError(c.t, err)
	return stored.UID
}

func (c *cluster) delete(name string, policy api.DeletePropagation) {
	_, _, err := c.registry.Delete(context.Background(), c.target("configmaps", name), api.DeleteOptions{PropagationPolicy: policy}, registry.WriteOptions{})
	require.NoError(c.t, err)
}

// names are the ConfigMaps that there are when everything has come to rest.
func (c *cluster) names() []string {
	time.Sleep(time.Second)
	synctest.Wait()
	t := c.target("configmaps", "")
	page, err := c.registry.List(t, api.ListOptions{})
	require.NoError(c.t, err)
	names := []string{}
	for _, o := range page.Items {
		names = append(names, o.Key.Name)
	}
	return names
}

func (c *cluster) get(name string) *api.Unstructured {
	stored, err := c.registry.Get(c.target("configmaps", name), api.GetOptions{})
	require.NoError(c.t, err)
	return stored.Decode()
}

func (c *cluster) hold(name string, finalizers ...any) {
	_, err := c.registry.Patch(context.Background(), c.target("configmaps", name), func(o *api.Unstructured) (*api.Unstructured, error) {
		if len(finalizers) == 0 {
			o.RemoveNested("metadata", "finalizers")
			return o, nil
		}
		return o, o.SetNested(finalizers, "metadata", "finalizers")
	}, registry.WriteOptions{})
	require.NoError(c.t, err)
}

func TestBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		owner := c.create("owner")
		child := c.create("child", owned("ConfigMap", "owner", owner, true))
		c.create("grandchild", owned("ConfigMap", "child", child, true))
		c.create("stranger")
		assert.Len(t, c.names(), 4)
		c.delete("owner", api.DeletePropagationBackground)
		assert.Equal(t, []string{"stranger"}, c.names())
		assert.Equal(t, []string{"deleted child Background", "deleted grandchild Background"}, c.told())
	})
}

func TestForegroundWaitsForThoseWhoHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		owner := c.create("owner")
		child := c.create("child", owned("ConfigMap", "owner", owner, true))
		c.create("grandchild", owned("ConfigMap", "child", child, true))
		c.create("loose", owned("ConfigMap", "owner", owner, false))
		c.hold("grandchild", "example.com/hold")
		c.hold("loose", "example.com/hold")
		c.delete("owner", api.DeletePropagationForeground)
		assert.Equal(t, []string{"child", "grandchild", "loose", "owner"}, c.names())
		assert.Equal(t, []string{registry.FinalizerForeground}, c.get("child").GetFinalizers())
		assert.NotNil(t, c.get("loose").GetDeletionTimestamp())
		c.hold("grandchild")
		assert.Equal(t, []string{"loose"}, c.names(), "the owner does not wait for who does not block it")
		c.hold("loose")
		assert.Empty(t, c.names())
	})
}

func TestOrphansForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		owner, other := c.create("owner"), c.create("other")
		c.create("child", owned("ConfigMap", "owner", owner, true), owned("ConfigMap", "other", other, true))
		c.create("only-child", owned("ConfigMap", "owner", owner, true))
		c.delete("owner", api.DeletePropagationOrphan)
		assert.Equal(t, []string{"child", "only-child", "other"}, c.names())
		assert.Len(t, c.get("child").Nested("metadata", "ownerReferences"), 1)
		assert.Nil(t, c.get("only-child").Nested("metadata", "ownerReferences"))
	})
}

func TestAnObjectStaysAsLongAsOneOwnerExists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		a, b := c.create("a"), c.create("b")
		c.create("child", owned("ConfigMap", "a", a, true), owned("ConfigMap", "b", b, true))
		c.delete("a", api.DeletePropagationBackground)
		assert.Equal(t, []string{"b", "child"}, c.names())
		assert.Contains(t, fmt.Sprint(c.get("child").Nested("metadata", "ownerReferences")), b)
		assert.NotContains(t, fmt.Sprint(c.get("child").Nested("metadata", "ownerReferences")), a)
		c.delete("b", api.DeletePropagationForeground)
		assert.Empty(t, c.names())
	})
}

func TestOwnersAreKnownByUID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		c.create("owner")
		c.create("impostor", owned("ConfigMap", "owner", "somebody-else", true))
		c.create("of-nobody", owned("ConfigMap", "never-was", "u", true))
		assert.Equal(t, []string{"owner"}, c.names())
	})
}

func TestNobodyIsDeletedOnSuspicion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		c.create("strange", owned("Unheard", "x", "u", true))
		cluster := c.target("nodes", "")
		_, err := c.registry.Create(t.Context(), cluster, &api.Unstructured{Object: map[string]any{"metadata": map[string]any{
			"name": "node", "ownerReferences": []any{owned("ConfigMap", "x", "u", true)}}}}, registry.WriteOptions{})
		require.NoError(t, err)
		assert.Equal(t, []string{"strange"}, c.names())
		_, err = c.registry.Get(c.target("nodes", "node"), api.GetOptions{})
		assert.NoError(t, err, "an object of the cluster cannot name an owner in a namespace")
	})
}

func TestACircleDoesNotWaitForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		a := c.create("a")
		b := c.create("b", owned("ConfigMap", "a", a, true))
		_, err := c.registry.Patch(t.Context(), c.target("configmaps", "a"), func(o *api.Unstructured) (*api.Unstructured, error) {
			return o, o.SetNested([]any{owned("ConfigMap", "b", b, true)}, "metadata", "ownerReferences")
		}, registry.WriteOptions{})
		require.NoError(t, err)
		c.delete("a", api.DeletePropagationForeground)
		assert.Empty(t, c.names())
	})
}

func TestRefusedDeletionsAreRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refuse atomic.Bool
		refuse.Store(true)
		c := start(t, func(a registry.Attributes) error {
			if refuse.Load() && a.User == user {
				return errors.New("not now")
			}
			return nil
		})
		owner := c.create("owner")
		c.create("child", owned("ConfigMap", "owner", owner, true))
		c.delete("owner", api.DeletePropagationBackground)
		assert.Equal(t, []string{"child"}, c.names())
		assert.Contains(t, c.told(), "failed child: not now")
		refuse.Store(false)
		time.Sleep(slowRetries)
		assert.Empty(t, c.names())
	})
}
