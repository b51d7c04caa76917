package informer

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
	"orrery/indexer/fast"
	"orrery/restclient/api"
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
	assert.EqualError(t, err, `an object in namespace "ns" has no name, and so no key`)
	_, _, err = SplitMetaNamespaceKey("a/b/c")
	assert.EqualError(t, err, `"a/b/c" is not a key: want name or namespace/name`)
}

func TestNamespaceIndexFunc(t *testing.T) {
	obj := &thing{namespace: "ns", name: "a"}
	values, err := MetaNamespaceIndexFunc(obj)
	require.NoError(t, err)
	assert.Equal(t, []string{"ns"}, values)
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = MetaNamespaceIndexFunc(obj) }))
}

// TestNamespacesThatShareAPlace: they replace each other and are never mixed up.
func TestNamespacesThatShareAPlace(t *testing.T) {
	for range 2 {
		for i := range 4 * len(recentNamespaces) {
			name := strconv.Itoa(i)
			assert.Equal(t, []string{name}, namespaceValues(name))
		}
	}
	values := namespaceValues("a")
	assert.Equal(t, []string{"a", "b"}, append(values, "b"))
	assert.Equal(t, []string{"a"}, namespaceValues("a"), "append copies the slice")
}

// TestKeysOfKnownObjectsAreThoseOfTheStore: keys are not built again for each event.
func TestKeysOfKnownObjectsAreThoseOfTheStore(t *testing.T) {
	store := fast.New(indexer.Config[*thing]{KeyFunc: MetaNamespaceKeyFunc[*thing]})
	keyOf := keyFuncOf(Indexer[*thing](store))
	long := &thing{namespace: "ns", name: strings.Repeat("x", 200)}
	root, known := &thing{name: "b"}, &thing{namespace: "ns", name: "a"}
	for _, obj := range []*thing{root, known, long} {
		want, err := MetaNamespaceKeyFunc(obj)
		require.NoError(t, err)
		for range 2 {
			key, err := keyOf(obj)
			require.NoError(t, err)
			assert.Equal(t, want, key)
			require.NoError(t, store.Add(obj))
		}
	}
	for _, obj := range []*thing{root, known} {
		assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = keyOf(obj) }), obj.name)
	}
	_, err := keyOf(&thing{namespace: "ns"})
	require.Error(t, err)
}

func TestFuncsMayBeNil(t *testing.T) {
	var none ResourceEventHandlerFuncs[*thing]
	none.OnAdd(&thing{}, true)
	none.OnUpdate(&thing{}, &thing{})
	none.OnDelete(DeletedObject[*thing]{})
}

func TestNamesOfKinds(t *testing.T) {
	assert.Equal(t, []string{"add", "update", "delete", "synced", "unknown"},
		[]string{EventAdd.String(), EventUpdate.String(), EventDelete.String(), EventSynced.String(),
			EventKind(0).String()})
	assert.Equal(t, []string{"new", "running", "stopped"},
		[]string{StateNew.String(), StateRunning.String(), StateStopped.String()})
}

func TestStripManagedFields(t *testing.T) {
	ns := &api.Namespace{}
	ns.Name, ns.ManagedFields = "a", api.NewManagedFields([]byte(`[{"manager":"kubectl"}]`))
	strip := StripManagedFields(func(ns *api.Namespace) *api.ObjectMeta { return &ns.ObjectMeta })
	got, err := strip(ns)
	require.NoError(t, err)
	assert.Same(t, ns, got)
	assert.Equal(t, api.ObjectMeta{Name: "a"}, got.ObjectMeta)
}
