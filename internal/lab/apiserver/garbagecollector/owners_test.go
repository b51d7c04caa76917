package garbagecollector

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

// gizmos makes a custom resource and returns its target. The collector has to notice by itself.
func (c *cluster) gizmos() registry.Target {
	definition := new(api.Unstructured)
	require.NoError(c.t, json.Unmarshal([]byte(`{"metadata":{"name":"gizmos.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
		"names":{"plural":"gizmos","singular":"gizmo","kind":"Gizmo","listKind":"GizmoList"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`), definition))
	_, err := c.registry.Create(context.Background(), c.definitions(), definition, registry.WriteOptions{})
	require.NoError(c.t, err)
	d, ok := c.catalog.Lookup(api.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gizmos"})
	require.True(c.t, ok)
	return registry.Target{Definition: d, Version: "v1", Namespace: "default"}
}

func (c *cluster) definitions() registry.Target {
	d, ok := c.catalog.Lookup(customResources)
	require.True(c.t, ok)
	return registry.Target{Definition: d, Version: "v1"}
}

// in makes an object anywhere and returns its UID.
func (c *cluster) in(t registry.Target, name string, references ...any) string {
	metadata := map[string]any{"name": name}
	if len(references) > 0 {
		metadata["ownerReferences"] = references
	}
	stored, err := c.registry.Create(context.Background(), t, &api.Unstructured{Object: map[string]any{"metadata": metadata}}, registry.WriteOptions{})
	require.NoError(c.t, err)
	return stored.UID
}

func (c *cluster) gone(t registry.Target, name string) bool {
	t.Name = name
	_, err := c.registry.Get(t, api.GetOptions{})
	if err != nil {
		require.True(c.t, api.IsNotFound(err), "%v", err)
	}
	return err != nil
}

func refersTo(apiVersion, kind, name, uid string) map[string]any {
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "name": name, "uid": uid, "blockOwnerDeletion": true}
}

func TestCustomResourcesOwnAndAreOwned(t *testing.T) {
	for _, policy := range []api.DeletePropagation{api.DeletePropagationBackground, api.DeletePropagationForeground} {
		t.Run(string(policy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, nil)
				gizmos := c.gizmos()
				owner := c.create("owner")
				gizmo := c.in(gizmos, "g", refersTo("v1", "ConfigMap", "owner", owner))
				c.create("child", refersTo("example.com/v1", "Gizmo", "g", gizmo))
				assert.Equal(t, []string{"child", "owner"}, c.names())
				c.delete("owner", policy)
				assert.Empty(t, c.names())
				assert.True(t, c.gone(gizmos, "g"))
			})
		})
	}
}

// With the definition the objects go, and with the resource the watch of it, until there is one of that name again.
func TestACustomResourceThatIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		for range 2 { // the second time under the name of a resource that was there before
			gizmos := c.gizmos()
			owner := c.create("owner")
			c.in(gizmos, "g", refersTo("v1", "ConfigMap", "owner", owner))
			c.names()
			definition := c.definitions()
			definition.Name = "gizmos.example.com"
			_, _, err := c.registry.Delete(t.Context(), definition, api.DeleteOptions{}, registry.WriteOptions{})
			require.NoError(t, err)
			assert.Equal(t, []string{"owner"}, c.names())
			_, served := c.catalog.Lookup(api.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gizmos"})
			assert.False(t, served)
			c.delete("owner", api.DeletePropagationForeground)
			assert.Empty(t, c.names())
		}
	})
}

func TestOwnersOfTheWholeCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		node := c.in(c.target("nodes", ""), "n1")
		c.create("child", refersTo("v1", "Node", "n1", node))
		assert.Equal(t, []string{"child"}, c.names())
		n1 := c.target("nodes", "n1")
		_, _, err := c.registry.Delete(t.Context(), n1, api.DeleteOptions{PropagationPolicy: api.DeletePropagationForeground}, registry.WriteOptions{})
		require.NoError(t, err)
		assert.Empty(t, c.names())
		assert.True(t, c.gone(c.target("nodes", ""), "n1"))
	})
}

// An owner is looked for in the namespace of its dependent. One of another namespace is not there, whatever its UID.
func TestOwnersOfAnotherNamespaceAreNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		elsewhere := c.target("configmaps", "")
		elsewhere.Namespace = "kube-system"
		owner := c.in(elsewhere, "owner")
		c.create("child", refersTo("v1", "ConfigMap", "owner", owner))
		assert.Empty(t, c.names())
		assert.False(t, c.gone(elsewhere, "owner"))
	})
}

// Everybody below waits for those below him, and what has a finalizer of somebody else holds all above.
func TestForegroundThroughGenerations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		a := c.create("a")
		b := c.create("b", owned("ConfigMap", "a", a, true))
		d := c.create("d", owned("ConfigMap", "b", b, true))
		c.create("e", owned("ConfigMap", "d", d, true))
		c.hold("e", "x.y/z")
		c.delete("a", api.DeletePropagationForeground)
		assert.Equal(t, []string{"a", "b", "d", "e"}, c.names())
		for _, name := range []string{"a", "b", "d", "e"} {
			assert.NotNil(t, c.get(name).GetDeletionTimestamp(), name)
		}
		c.hold("e")
		assert.Empty(t, c.names())
	})
}

func TestOrphansOfAnOwnerThatIsHeldByOthersToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, nil)
		a := c.create("a")
		c.hold("a", "x.y/z")
		c.create("b", owned("ConfigMap", "a", a, true))
		c.delete("a", api.DeletePropagationOrphan)
		assert.Equal(t, []string{"a", "b"}, c.names())
		assert.Equal(t, []string{"x.y/z"}, c.get("a").GetFinalizers())
		assert.Nil(t, c.get("b").Nested("metadata", "ownerReferences"))
		c.hold("a")
		assert.Equal(t, []string{"b"}, c.names())
	})
}

// A dependent that is to orphan its own dependents does so when it is collected.
func TestTheFinalizersOfADependentSayHowItGoes(t *testing.T) {
	for finalizer, left := range map[string][]string{registry.FinalizerOrphan: {"grandchild"}, registry.FinalizerForeground: {}} {
		t.Run(finalizer, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, nil)
				a := c.create("a")
				b := c.create("b", owned("ConfigMap", "a", a, true))
				c.create("grandchild", owned("ConfigMap", "b", b, true))
				c.hold("b", finalizer)
				c.delete("a", api.DeletePropagationBackground)
				assert.Equal(t, left, c.names())
			})
		})
	}
}

func TestReferencesThatNameNobody(t *testing.T) {
	o := &api.Unstructured{Object: map[string]any{"metadata": map[string]any{"ownerReferences": []any{
		"nonsense", refersTo("a/b/c", "X", "x", "u"), refersTo("v1", "X", "x", ""), refersTo("v1", "X", "x", "u"),
	}}}}
	assert.Len(t, referencesOf(o), 1)
	assert.Empty(t, referencesOf(&api.Unstructured{}))
	assert.False(t, removeReferences(o, map[string]bool{"other": true}))
	assert.True(t, removeReferences(o, map[string]bool{"u": true, "": true}))
	assert.False(t, unblock(&api.Unstructured{}))
}

// Between the look at an object and its deletion somebody may give it an owner that exists.
func TestADeletionIsOfWhatWasLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *cluster
		once := true
		c = start(t, func(a registry.Attributes) error {
			if once && a.User == user && a.Verb == "delete" {
				once = false
				other := c.create("other")
				_, err := c.registry.Patch(context.Background(), c.target("configmaps", a.Name), func(o *api.Unstructured) (*api.Unstructured, error) {
					return o, o.SetNested([]any{owned("ConfigMap", "other", other, true)}, "metadata", "ownerReferences")
				}, registry.WriteOptions{})
				return err
			}
			return nil
		})
		a := c.create("a")
		c.create("b", owned("ConfigMap", "a", a, true))
		c.delete("a", api.DeletePropagationBackground)
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"b", "other"}, c.names())
	})
}
