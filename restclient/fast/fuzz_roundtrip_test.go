package fast

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// FuzzRoundTrip writes an object as a server does, alone, in a list and in a watch. Every decoder,
// and encoding/json, reads the same from it.
func FuzzRoundTrip(f *testing.F) {
	f.Add("web", "shop", "17", "app", "web", int64(3))
	f.Add("", "", "", "", "", int64(0))
	f.Add("é\u2028<&>", "\x00\x1f", "18446744073709551615", "k8s.io/initial-events-end", "true", int64(-1))
	f.Add("\xff\xfe", "\ud7ff\uffff", "0", "\\\"", "\"}]}", int64(1)<<62)
	f.Fuzz(func(t *testing.T, name, namespace, version, key, value string, generation int64) {
		written := &api.PartialObjectMetadata{}
		written.Kind, written.APIVersion = "PartialObjectMetadata", "meta.k8s.io/v1"
		written.Name, written.Namespace, written.ResourceVersion, written.Generation = name, namespace, version, generation
		written.Labels = map[string]string{key: value}
		written.Finalizers = []string{value}
		object, err := json.Marshal(written)
		require.NoError(t, err)
		var want *partial
		require.NoError(t, json.Unmarshal(object, &want))

		alone, err := new(metadataReader).decode(object)
		require.NoError(t, err)
		require.Equal(t, want, alone)

		event, err := json.Marshal(map[string]any{"type": api.WatchModified, "object": written})
		require.NoError(t, err)
		checkRoundTripEvent(t, want, event)

		list, err := json.Marshal(map[string]any{"kind": "PodList", "apiVersion": "v1", "items": []any{written, written},
			"metadata": map[string]any{"resourceVersion": version, "continue": key}})
		require.NoError(t, err)
		items, err := Codec{}.List("application/json", bytes.NewReader(list), 1<<20)
		require.NoError(t, err)
		require.Equal(t, []*partial{want, want}, items.Items)
		require.Equal(t, want.ResourceVersion, items.ResourceVersion)
	})
}

func checkRoundTripEvent(t *testing.T, want *partial, frame []byte) {
	t.Helper()
	d := newEventDecoder(bytes.NewReader(bytes.Repeat(frame, 2)), 1<<20)
	for range 2 {
		event, size, err := d.Next()
		require.NoError(t, err)
		require.Equal(t, len(frame), size)
		require.Equal(t, want, event.Object)
		require.Equal(t, want.ResourceVersion, event.ResourceVersion)
	}
}
