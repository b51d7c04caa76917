package registry_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

// objectModel is the model of an object.
type objectModel struct {
	uid        string
	finalizers []string // of the metadata
	deleting   bool
	own        []string // spec.finalizers of a namespace
}

// lifeModel is a registry and its model: namespaces and ConfigMaps.
type lifeModel struct {
	*world
	namespaces map[string]*objectModel
	content    map[string]*objectModel // by namespace/name
}

var (
	someNamespaces = rapid.SampledFrom([]string{"n1", "n2", "n3"})
	someNames      = rapid.SampledFrom([]string{"a", "b"})
	someFinalizers = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x.y/1", "x.y/2"}), 0, 2, rapid.ID[string])
	someOwn        = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"kubernetes", "o.p/q"}), 0, 2, rapid.ID[string])
)

func list(values []string) string {
	text := "["
	for i, value := range values {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf("%q", value)
	}
	return text + "]"
}

func (m *lifeModel) createNamespace(t *rapid.T) {
	name, finalizers := someNamespaces.Draw(t, "namespace"), someFinalizers.Draw(t, "finalizers")
	o, err := m.Create(ctx, m.ns(""), tree(fmt.Sprintf(`{"metadata":{"name":%q,"finalizers":%s}}`, name, list(finalizers))), none)
	if m.namespaces[name] != nil {
		require.True(t, api.IsAlreadyExists(err), "%v", err)
		return
	}
	require.NoError(t, err)
	m.namespaces[name] = &objectModel{uid: o.UID, finalizers: finalizers, own: []string{"kubernetes"}}
}

func (m *lifeModel) deleteNamespace(t *rapid.T) {
	name := someNamespaces.Draw(t, "namespace")
	n := m.namespaces[name]
	_, gone, err := m.Delete(ctx, m.ns(name), api.DeleteOptions{}, none)
	if n == nil {
		require.True(t, api.IsNotFound(err), "%v", err)
		return
	}
	require.NoError(t, err)
	free := n.deleting && len(n.own) == 0 && len(n.finalizers) == 0
	require.Equal(t, free, gone)
	n.deleting = true
	if free {
		delete(m.namespaces, name)
	}
}

func (m *lifeModel) finalizeNamespace(t *rapid.T) {
	name, own := someNamespaces.Draw(t, "namespace"), someOwn.Draw(t, "finalizers")
	n := m.namespaces[name]
	_, err := m.Patch(ctx, m.ns(name, "finalize"), func(o *api.Unstructured) (*api.Unstructured, error) {
		values := []any{}
		for _, one := range own {
			values = append(values, one)
		}
		return o, o.SetNested(values, "spec", "finalizers")
	}, none)
	if n == nil {
		require.True(t, api.IsNotFound(err), "%v", err)
		return
	}
	require.NoError(t, err)
	n.own = own
	m.release(name)
}

func (m *lifeModel) release(name string) {
	if n := m.namespaces[name]; n.deleting && len(n.own) == 0 && len(n.finalizers) == 0 {
		delete(m.namespaces, name)
	}
}

func (m *lifeModel) refinalizeNamespace(t *rapid.T) {
	name, finalizers := someNamespaces.Draw(t, "namespace"), someFinalizers.Draw(t, "finalizers")
	n := m.namespaces[name]
	_, err := m.patch(m.ns(name), fmt.Sprintf(`{"metadata":{"finalizers":%s}}`, list(finalizers)))
	if m.refinalized(t, n, finalizers, err) {
		m.release(name)
	}
}

// refinalized checks the answer to a new list of finalizers, which may only shrink during deletion.
func (m *lifeModel) refinalized(t *rapid.T, o *objectModel, finalizers []string, err error) bool {
	if o == nil {
		require.True(t, api.IsNotFound(err), "%v", err)
		return false
	}
	grows := slices.ContainsFunc(finalizers, func(one string) bool { return !slices.Contains(o.finalizers, one) })
	if o.deleting && grows {
		require.True(t, api.IsInvalid(err), "%v", err)
		return false
	}
	require.NoError(t, err)
	o.finalizers = finalizers
	return true
}

func (m *lifeModel) createContent(t *rapid.T) {
	namespace, name, finalizers := someNamespaces.Draw(t, "namespace"), someNames.Draw(t, "name"), someFinalizers.Draw(t, "finalizers")
	o, err := m.Create(ctx, m.at("configmaps", namespace, ""), tree(fmt.Sprintf(`{"metadata":{"name":%q,"finalizers":%s}}`, name, list(finalizers))), none)
	switch n := m.namespaces[namespace]; {
	case n == nil:
		require.True(t, api.IsNotFound(err), "%v", err)
	case n.deleting:
		require.True(t, api.IsNamespaceTerminating(err), "%v", err)
	case m.content[namespace+"/"+name] != nil:
		require.True(t, api.IsAlreadyExists(err), "%v", err)
	default:
		require.NoError(t, err)
		m.content[namespace+"/"+name] = &objectModel{uid: o.UID, finalizers: finalizers}
	}
}

func (m *lifeModel) deleteContent(t *rapid.T) {
	namespace, name := someNamespaces.Draw(t, "namespace"), someNames.Draw(t, "name")
	key := namespace + "/" + name
	o := m.content[key]
	_, gone, err := m.Delete(ctx, m.at("configmaps", namespace, name), api.DeleteOptions{}, none)
	if o == nil {
		require.True(t, api.IsNotFound(err), "%v", err)
		return
	}
	require.NoError(t, err)
	require.Equal(t, len(o.finalizers) == 0, gone)
	if o.deleting = true; gone {
		delete(m.content, key)
	}
}

func (m *lifeModel) refinalizeContent(t *rapid.T) {
	namespace, name, finalizers := someNamespaces.Draw(t, "namespace"), someNames.Draw(t, "name"), someFinalizers.Draw(t, "finalizers")
	key := namespace + "/" + name
	o := m.content[key]
	_, err := m.patch(m.at("configmaps", namespace, name), fmt.Sprintf(`{"metadata":{"finalizers":%s}}`, list(finalizers)))
	if m.namespaces[namespace] == nil { // remaining objects can only be deleted
		require.True(t, api.IsNotFound(err), "%v", err)
		return
	}
	if m.refinalized(t, o, finalizers, err) && o.deleting && len(finalizers) == 0 {
		delete(m.content, key)
	}
}

// check compares the registry with the model: no object with a finalizer has gone, and a
// terminating namespace has no new content.
func (m *lifeModel) check(t *rapid.T) {
	compare := func(target registry.Target, want map[string]*objectModel, key func(namespace, name string) string) {
		page, err := m.List(target, api.ListOptions{FieldSelector: "metadata.name!=kube-root-ca.crt"})
		require.NoError(t, err)
		found := 0
		for _, o := range page.Items {
			expected := want[key(o.Key.Namespace, o.Key.Name)]
			if expected == nil && slices.Contains([]string{"default", "kube-system", "kube-public", "kube-node-lease"}, o.Key.Name) {
				continue
			}
			require.NotNil(t, expected, "%v should be gone", o.Key)
			found++
			object := o.Decode()
			assert.Equal(t, expected.uid, o.UID)
			assert.Equal(t, expected.deleting, o.Deleting)
			assert.ElementsMatch(t, expected.finalizers, object.GetFinalizers())
			if expected.own != nil {
				assert.ElementsMatch(t, expected.own, object.NestedStringSlice("spec", "finalizers"))
				assert.Equal(t, expected.deleting, object.NestedString("status", "phase") == "Terminating")
			}
		}
		require.Equal(t, len(want), found)
	}
	compare(m.ns(""), m.namespaces, func(_, name string) string { return name })
	compare(m.at("configmaps", "", ""), m.content, func(namespace, name string) string { return namespace + "/" + name })
}

func TestQuickTheLifeOfNamespacesAndTheirContent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &lifeModel{world: newWorld(t), namespaces: map[string]*objectModel{}, content: map[string]*objectModel{}}
		rt.Repeat(map[string]func(*rapid.T){
			"create namespace":     m.createNamespace,
			"delete namespace":     m.deleteNamespace,
			"finalize namespace":   m.finalizeNamespace,
			"refinalize namespace": m.refinalizeNamespace,
			"create content":       m.createContent,
			"delete content":       m.deleteContent,
			"refinalize content":   m.refinalizeContent,
			"":                     m.check,
		})
	})
}
