package informer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// thing is the smallest Object.
type thing struct {
	namespace, name, version string
	labels                   map[string]string
}

func (t *thing) GetNamespace() string         { return t.namespace }
func (t *thing) GetName() string              { return t.name }
func (t *thing) GetResourceVersion() string   { return t.version }
func (t *thing) GetLabels() map[string]string { return t.labels }

func TestKeysAndTheWayBack(t *testing.T) {
	for _, c := range []struct{ namespace, name, key string }{
		{"", "kube-system", "kube-system"},
		{"kube-system", "dns", "kube-system/dns"},
	} {
		key, err := MetaNamespaceKeyFunc(&thing{namespace: c.namespace, name: c.name})
		require.NoError(t, err)
		assert.Equal(t, c.key, key)
		namespace, name, err := SplitMetaNamespaceKey(key)
		require.NoError(t, err)
		assert.Equal(t, c.namespace, namespace)
		assert.Equal(t, c.name, name)
	}
}

func TestWhatHasNoKey(t *testing.T) {
	_, err := MetaNamespaceKeyFunc(&thing{namespace: "ns"})
	var keyError *KeyError
	require.ErrorAs(t, err, &keyError)
	assert.Equal(t, "ns", keyError.Namespace)
	assert.Contains(t, err.Error(), `"ns"`)

	_, _, err = SplitMetaNamespaceKey("a/b/c")
	require.ErrorAs(t, err, &keyError)
	assert.Equal(t, "a/b/c", keyError.Key)
	assert.Contains(t, err.Error(), `"a/b/c"`)
}

func TestNamespaceIndexFunc(t *testing.T) {
	values, err := MetaNamespaceIndexFunc(&thing{namespace: "ns", name: "a"})
	require.NoError(t, err)
	assert.Equal(t, []string{"ns"}, values)
}

func TestKeyTableHoldsWhatItWasTold(t *testing.T) {
	table := &keyTable[*thing]{keys: map[keyParts]string{}}
	known, root := &thing{namespace: "ns", name: "a"}, &thing{name: "b"}
	table.remember("ns/a", known)
	table.remember("b", root)
	assert.Len(t, table.keys, 1, "objects of the cluster need no entry")

	for obj, want := range map[*thing]string{known: "ns/a", root: "b", {namespace: "ns", name: "new"}: "ns/new"} {
		key, err := table.keyOf(obj)
		require.NoError(t, err)
		assert.Equal(t, want, key)
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = table.keyOf(known) }))
	_, err := table.keyOf(&thing{namespace: "ns"})
	require.Error(t, err)

	table.forget(known)
	table.forget(root)
	assert.Empty(t, table.keys)
}
