package restclient

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// The files in testdata are answers of kube-apiserver v1.36.3, byte for byte.
func wire(t testing.TB, name string) io.Reader {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name))
	require.NoError(t, err)
	t.Cleanup(func() { file.Close() })
	return file
}

func TestWireLists(t *testing.T) {
	for _, name := range []string{"metadata-list.json", "delete-collection.json"} {
		list, listed, err := decodeList(wire(t, name), 1<<20, metadataCodec(false))
		require.NoError(t, err)
		assert.True(t, listed)
		assert.Equal(t, "PartialObjectMetadataList", list.Kind)
		assert.NotEmpty(t, list.ResourceVersion)
		require.Len(t, list.Items, 3)
		for i, want := range []string{"cm0", "cm1", "kube-root-ca.crt"} {
			assert.Equal(t, want, list.Items[i].Name)
			assert.Equal(t, "PartialObjectMetadata", list.Items[i].Kind)
			assert.NotEmpty(t, list.Items[i].ManagedFields)
		}
	}
	list, listed, err := decodeList(wire(t, "delete-empty-collection.json"), 1<<20, metadataCodec(false))
	require.NoError(t, err)
	assert.True(t, listed, "an empty collection is answered with a list, and so proven empty")
	assert.Empty(t, list.Items)

	whole, _, err := decodeList(wire(t, "list.json"), 1<<20, dynamicCodec())
	require.NoError(t, err)
	require.Len(t, whole.Items, 3)
	assert.Equal(t, "ConfigMap", whole.Items[0].GetKind())
	assert.Equal(t, "v1", whole.Items[0].GetAPIVersion())
	assert.Equal(t, "v", whole.Items[0].NestedString("data", "k"))
}

func TestWireWatch(t *testing.T) {
	d := newEventDecoder(wire(t, "metadata-watch.json"), 1<<20, metadataCodec(false))
	var types []api.WatchEventType
	var last api.WatchEvent[*api.PartialObjectMetadata]
	for {
		event, size, err := d.next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		assert.Positive(t, size)
		assert.NotEmpty(t, event.ResourceVersion)
		types = append(types, event.Type)
		last = event
	}
	assert.Equal(t, []api.WatchEventType{api.WatchAdded, api.WatchAdded, api.WatchAdded, api.WatchBookmark}, types)
	assert.True(t, last.InitialEventsEnd)
	assert.Nil(t, last.Object)
}
