package fast

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// FuzzRoundTrip writes an object as a server does, alone, in a list and in a watch, in both
// encodings. Every decoder, and encoding/json, reads the same from it.
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
		checkRoundTripEvent(t, want, event, false)

		list, err := json.Marshal(map[string]any{"kind": "PodList", "apiVersion": "v1", "items": []any{written, written},
			"metadata": map[string]any{"resourceVersion": version, "continue": key}})
		require.NoError(t, err)
		items, err := listInJSON(bytes.NewReader(list), 1<<20)
		require.NoError(t, err)
		require.Equal(t, []*partial{want, want}, items.Items)
		require.Equal(t, want.ResourceVersion, items.ResourceVersion)

		checkRoundTripProtobuf(t, written)
	})
}

func checkRoundTripEvent(t *testing.T, want *partial, frame []byte, protobuf bool) {
	t.Helper()
	d := newEventDecoder(bytes.NewReader(bytes.Repeat(frame, 2)), 1<<20, protobuf)
	for range 2 {
		event, size, err := d.Next()
		require.NoError(t, err)
		require.Equal(t, len(frame), size)
		require.Equal(t, want, event.Object)
		require.Equal(t, want.ResourceVersion, event.ResourceVersion)
	}
}

// checkRoundTripProtobuf: protobuf refuses invalid UTF-8, where JSON has replaced it.
func checkRoundTripProtobuf(t *testing.T, written *partial) {
	t.Helper()
	valid := true
	for key, value := range written.Labels {
		for _, s := range []string{written.Name, written.Namespace, written.ResourceVersion, key, value} {
			valid = valid && utf8.ValidString(s)
		}
	}
	message := protobufOf(written)
	frame := frame("MODIFIED", envelope(written.APIVersion, written.Kind, message))
	list := envelope("v1", "PodList", block(block(nil, 1, nil), 2, message))
	items, err := listInProtobuf(bytes.NewReader(list), 1<<20)
	if !valid {
		require.Error(t, err)
		return
	}
	require.NoError(t, err)
	inList := *written
	inList.Kind, inList.APIVersion = "Pod", "v1"
	require.Equal(t, []*partial{&inList}, items.Items)
	checkRoundTripEvent(t, written, frame, true)
}

func protobufOf(object *partial) []byte {
	meta := text(text(text(nil, 1, object.Name), 3, object.Namespace), 6, object.ResourceVersion)
	meta = varint(meta, 7, uint64(object.Generation))
	for key, value := range object.Labels {
		meta = block(meta, 11, text(text(nil, 1, key), 2, value))
	}
	for _, finalizer := range object.Finalizers {
		meta = text(meta, 14, finalizer)
	}
	return block(nil, 1, meta)
}
