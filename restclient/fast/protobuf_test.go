package fast

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"orrery/restclient"
	"orrery/restclient/api"
)

// Recordings with the same name and different extensions are responses of kube-apiserver v1.36.3
// about the same objects.

func recording(t testing.TB, name string) []byte {
	t.Helper()
	data, err := io.ReadAll(wire(t, name))
	require.NoError(t, err)
	return data
}

// sameHeads compares two objects as a server would see them.
func sameHeads(t *testing.T, want, got *partial) {
	t.Helper()
	assert.Equal(t, want, got)
	assert.True(t, got.ManagedFields.IsZero())
}

func TestListsAreTheSameInBothEncodings(t *testing.T) {
	for _, name := range []string{"metadata-pods", "metadata-page"} {
		want, err := listInJSON(wire(t, name+".json"), 1<<20)
		require.NoError(t, err)
		got, err := listInProtobuf(wire(t, name+".pb"), 1<<20)
		require.NoError(t, err)
		assert.Equal(t, want.TypeMeta, got.TypeMeta)
		assert.NotEmpty(t, got.ResourceVersion)
		if name == "metadata-page" {
			assert.Equal(t, int64(1), *got.RemainingItemCount)
			assert.NotEmpty(t, got.Continue)
		}
		require.Len(t, got.Items, len(want.Items))
		require.NotEmpty(t, got.Items)
		for i := range want.Items {
			sameHeads(t, want.Items[i], got.Items[i])
		}
	}
}

func TestObjectsAreTheSameInBothEncodings(t *testing.T) {
	want, err := new(metadataReader).decode(recording(t, "metadata-object.json"))
	require.NoError(t, err)
	require.NotNil(t, want.DeletionTimestamp)
	require.NotEmpty(t, want.Finalizers)
	got, err := decodeProtobuf(recording(t, "metadata-object.pb"))
	require.NoError(t, err)
	sameHeads(t, want, got)
}

func TestWatchesAreTheSameInBothEncodings(t *testing.T) {
	want := newEventDecoder(wire(t, "metadata-pods-watch.json"), 1<<20, false)
	got := newEventDecoder(wire(t, "metadata-pods-watch.pb"), 1<<20, true)
	var types []api.WatchEventType
	for {
		wanted, _, wantErr := want.Next()
		event, size, err := got.Next()
		require.Equal(t, wantErr, err)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		assert.Greater(t, size, 50)
		assert.Equal(t, wanted.Type, event.Type)
		assert.Equal(t, wanted.InitialEventsEnd, event.InitialEventsEnd)
		assert.NotEmpty(t, event.ResourceVersion)
		if wanted.Object != nil {
			sameHeads(t, wanted.Object, event.Object)
		}
		types = append(types, event.Type)
	}
	assert.Equal(t, []api.WatchEventType{api.WatchAdded, api.WatchAdded, api.WatchAdded, api.WatchBookmark}, types)
}

// A protobuf event of exactly the limit is accepted, its length prefix not counted, and one byte
// more is refused.
func TestTheLimitOfAnEventInProtobufIsExact(t *testing.T) {
	events := recording(t, "metadata-pods-watch.pb")
	first := int(binary.BigEndian.Uint32(events))
	event, size, err := newEventDecoder(bytes.NewReader(events), first, true).Next()
	require.NoError(t, err, "an event of exactly the limit was refused")
	assert.Equal(t, api.WatchAdded, event.Type)
	assert.Equal(t, 4+first, size)
	_, _, err = newEventDecoder(bytes.NewReader(events), first-1, true).Next()
	var large *restclient.TooLargeError
	require.ErrorAs(t, err, &large, "an event of one byte more than the limit was accepted")
	assert.Equal(t, restclient.TooLargeError{What: "a watch event", Limit: first - 1}, *large)
}

func TestEmptyListInProtobuf(t *testing.T) {
	list, err := listInProtobuf(wire(t, "delete-empty-collection.pb"), 1<<20)
	require.NoError(t, err)
	assert.Empty(t, list.Items)
	assert.NotEmpty(t, list.ResourceVersion)
}

func TestStatusInProtobuf(t *testing.T) {
	status, ok := Codec{}.Status(recording(t, "status-404.pb"))
	require.True(t, ok)
	assert.True(t, api.IsNotFound(api.NewStatusError(status)))
	assert.Equal(t, `pods "none" not found`, status.Message)
	assert.Equal(t, &api.StatusDetails{Name: "none", Kind: "pods"}, status.Details)
	for name, body := range map[string][]byte{"JSON": []byte(`{"kind":"Status"}`), "an object": recording(t, "metadata-object.pb"), "broken": envelope("v1", "Status", []byte{0x2a, 0x7f})} {
		_, ok := Codec{}.Status(body)
		assert.False(t, ok, name)
	}

	_, err := listInProtobuf(wire(t, "status-404.pb"), 1<<20)
	assert.True(t, api.IsNotFound(err), "a failure in place of a list: %v", err)

	list, err := listInProtobuf(bytes.NewReader(envelope("v1", "Status", text(nil, 2, "Success"))), 1<<20)
	require.NoError(t, err)
	assert.Nil(t, list, "a Status that reports success is no list")
}

// A Status with all fields.
func TestErrorEventInProtobuf(t *testing.T) {
	details := text(text(text(text(nil, 1, "n"), 2, "g"), 3, "k"), 6, "u")
	details = block(details, 4, text(text(text(nil, 1, "ResourceVersionTooLarge"), 2, "m"), 3, "f"))
	details = varint(details, 5, 7)
	status := text(text(text(block(nil, 1, text(nil, 2, "9")), 2, "Failure"), 3, "too old"), 4, "Expired")
	status = varint(block(status, 5, details), 6, 410)
	d := newEventDecoder(bytes.NewReader(frame("ERROR", envelope("v1", "Status", status))), 1<<20, true)
	event, _, err := d.Next()
	require.NoError(t, err)
	assert.Equal(t, &api.Status{
		TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"}, ListMeta: api.ListMeta{ResourceVersion: "9"},
		Status: "Failure", Message: "too old", Reason: api.ReasonExpired, Code: 410,
		Details: &api.StatusDetails{Name: "n", Group: "g", Kind: "k", UID: "u", RetryAfterSeconds: 7,
			Causes: []api.StatusCause{{Type: api.CauseResourceVersionTooLarge, Message: "m", Field: "f"}}},
	}, event.Status)
}

// The result does not depend on the pieces in which a body arrives.
func TestProtobufInPieces(t *testing.T) {
	want, err := listInProtobuf(wire(t, "metadata-pods.pb"), 1<<20)
	require.NoError(t, err)
	got, err := listInProtobuf(iotest.OneByteReader(wire(t, "metadata-pods.pb")), 1<<20)
	require.NoError(t, err)
	assert.Equal(t, want, got)

	d := newEventDecoder(iotest.OneByteReader(wire(t, "metadata-pods-watch.pb")), 1<<20, true)
	for range 4 {
		_, _, err := d.Next()
		require.NoError(t, err)
	}
	_, _, err = d.Next()
	assert.Equal(t, io.EOF, err)
}

// A body that ends early is a broken connection, wherever it ends, and never a shorter list.
func TestProtobufThatBreaksOff(t *testing.T) {
	whole := recording(t, "metadata-pods.pb")
	const tail = 4 // two empty fields of the envelope, after the list
	for n := range len(whole) - tail {
		_, err := listInProtobuf(bytes.NewReader(whole[:n]), 1<<20)
		require.Error(t, err, n)
	}
	events := recording(t, "metadata-pods-watch.pb")
	first := 4 + int(binary.BigEndian.Uint32(events))
	for n := 1; n < first; n++ {
		d := newEventDecoder(bytes.NewReader(events[:n]), 1<<20, true)
		_, _, err := d.Next()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, n)
	}
}

func TestProtobufThatMakesNoSense(t *testing.T) {
	pod := block(nil, 1, text(nil, 1, "a"))
	list := block(block(nil, 1, text(nil, 2, "7")), 2, pod)
	for name, body := range map[string][]byte{
		"nothing":            nil,
		"json":               []byte(`{"items":[]}`),
		"no list":            envelope("meta.k8s.io/v1", "PartialObjectMetadata", pod),
		"magic only":         []byte(protobufMagic),
		"no kind":            append([]byte(protobufMagic), block(nil, 2, list)...),
		"gzip":               append([]byte(protobufMagic), append(text(nil, 3, "gzip"), block(block(nil, 1, text(nil, 2, "XList")), 2, list)...)...),
		"item too long":      envelope("v1", "XList", append(list[:len(list):len(list)], 0x12, 0x7f)),
		"field number 0":     envelope("v1", "XList", []byte{0x00, 0x01}),
		"group":              envelope("v1", "XList", []byte{0x0b, 0x0c}),
		"endless number":     envelope("v1", "XList", bytes.Repeat([]byte{0xff}, 11)),
		"bad item":           envelope("v1", "XList", block(nil, 2, []byte{0x0a, 0x7f})),
		"name not UTF-8":     envelope("v1", "XList", block(nil, 2, block(nil, 1, text(nil, 1, "\xff")))),
		"namespace":          envelope("v1", "XList", block(nil, 2, block(nil, 1, text(nil, 3, "\xff")))),
		"label not UTF-8":    envelope("v1", "XList", block(nil, 2, block(nil, 1, block(nil, 11, text(nil, 1, "\xff"))))),
		"year 20000":         envelope("v1", "XList", block(nil, 2, block(nil, 1, block(nil, 8, varint(nil, 1, 1<<40))))),
		"too large a length": append([]byte(protobufMagic), 0x12, 0xff, 0xff, 0xff, 0xff, 0x7f),
		"status broken":      envelope("v1", "Status", []byte{0x2a, 0x7f}),
	} {
		list, err := listInProtobuf(bytes.NewReader(body), 1<<20)
		assert.Error(t, err, name)
		assert.Nil(t, list, name)
	}
	var large *restclient.TooLargeError
	_, err := listInProtobuf(wire(t, "metadata-pods.pb"), 100)
	assert.ErrorAs(t, err, &large)
}

func TestEventsThatMakeNoSense(t *testing.T) {
	for name, body := range map[string][]byte{
		"no type":      frame("", envelope("v1", "X", nil)),
		"no object":    frame("ADDED", nil),
		"no magic":     frame("ADDED", []byte("xyz")),
		"bad status":   frame("ERROR", envelope("v1", "Status", []byte{0xff})),
		"bad object":   frame("ADDED", envelope("v1", "X", []byte{0xff})),
		"bad bookmark": frame("BOOKMARK", envelope("v1", "X", []byte{0xff})),
		"bad frame":    {0, 0, 0, 1, 0xff},
		"too large":    {0xff, 0, 0, 0},
	} {
		d := newEventDecoder(bytes.NewReader(body), 1<<10, true)
		t.Run(name, func(t *testing.T) {
			_, _, err := d.Next()
			assert.Error(t, err)
		})
	}
	for name, body := range map[string][]byte{
		"a Status": recording(t, "status-404.pb"), "no magic": []byte("{}"), "broken": append([]byte(protobufMagic), 0xff),
	} {
		_, err := decodeProtobuf(body)
		assert.Error(t, err, name)
	}
}

// Labels, annotations and owners that begin like those of an object before are not equal to them:
// in protobuf no bracket closes them, so only a row that is equal to its end may be shared.
func TestRowsThatBeginAlikeAreNotShared(t *testing.T) {
	meta := func(names ...string) (message []byte) {
		for _, number := range []protowire.Number{11, 12} { // labels, annotations
			for _, name := range names {
				message = block(message, number, text(text(nil, 1, name), 2, "x"))
			}
		}
		for _, name := range names {
			message = block(message, 13, text(text(nil, 1, "Pod"), 3, name)) // owners
		}
		return block(nil, 1, message)
	}
	var r metadataReader
	for _, names := range [][]string{{"a"}, {"a", "b"}, {"a"}} {
		object, err := r.readProtobuf(partialTypeMeta, meta(names...))
		require.NoError(t, err)
		want := map[string]string{}
		for _, name := range names {
			want[name] = "x"
		}
		assert.Equal(t, want, object.Labels, "the labels are those of an object before, which are the beginning of these")
		assert.Equal(t, want, object.Annotations, "the annotations are those of an object before, which are the beginning of these")
		assert.Len(t, object.OwnerReferences, len(names), "the owners are those of an object before, which are the beginning of these")
	}
}

// A newer server may send unknown fields, and another writer may order fields differently.
func TestProtobufFieldsThatAreUnknownOrElsewhere(t *testing.T) {
	meta := block(nil, 11, text(text(nil, 2, "v"), 1, "k"))
	meta = protowire.AppendFixed32(protowire.AppendTag(meta, 90, protowire.Fixed32Type), 1)
	meta = protowire.AppendFixed64(protowire.AppendTag(meta, 91, protowire.Fixed64Type), 1)
	meta = varint(text(text(meta, 1, "web-1"), 2, "web-"), 7, 3)
	meta = varint(block(meta, 9, nil), 10, 30)
	meta = text(text(text(meta, 3, "shop"), 4, "/self"), 14, "f")
	meta = block(meta, 17, text(text(nil, 8, "status"), 1, `m "x"`))
	body := varint(nil, 9, 1)
	body = protowire.AppendFixed32(protowire.AppendTag(body, 90, protowire.Fixed32Type), 1)
	body = protowire.AppendFixed64(protowire.AppendTag(body, 91, protowire.Fixed64Type), 1)
	body = block(block(body, 77, []byte("?")), 2, block(nil, 1, meta))
	list, err := listInProtobuf(bytes.NewReader(envelope("v1", "PodList", body)), 1<<20)
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	assert.Equal(t, &api.PartialObjectMetadata{
		TypeMeta: api.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: api.ObjectMeta{
			Name: "web-1", GenerateName: "web-", Namespace: "shop", SelfLink: "/self", Generation: 3,
			DeletionTimestamp: &api.Time{}, DeletionGracePeriodSeconds: new(int64(30)),
			Labels: map[string]string{"k": "v"}, Finalizers: []string{"f"},
		},
	}, list.Items[0], "whole objects of a server that has no heads: the same heads are read")
}

func TestReadTime(t *testing.T) {
	moment, err := readTime(varint(varint(nil, 1, 1_767_600_000), 2, 0))
	require.NoError(t, err)
	assert.Equal(t, time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC), moment.Time)
	for _, wrong := range [][]byte{{0xff}, varint(nil, 1, 1<<62), varint(nil, 2, 1<<31)} {
		_, err := readTime(wrong)
		assert.Error(t, err)
	}
}

// Builders of messages.

func text(b []byte, number protowire.Number, value string) []byte {
	return block(b, number, []byte(value))
}

func block(b []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), value)
}

func varint(b []byte, number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), value)
}

func envelope(apiVersion, kind string, message []byte) []byte {
	b := block([]byte(protobufMagic), 1, text(text(nil, 1, apiVersion), 2, kind))
	return text(text(block(b, 2, message), 3, ""), 4, "")
}

func frame(kind string, object []byte) []byte {
	event := text(nil, 1, kind)
	if object != nil {
		event = block(event, 2, block(nil, 1, object))
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...)
}

// FuzzListProtobuf: no panic, no accepted invalid UTF-8, and the same bytes in other pieces are
// the same list.
func FuzzListProtobuf(f *testing.F) {
	for _, name := range []string{"metadata-pods.pb", "metadata-page.pb", "delete-empty-collection.pb", "status-404.pb"} {
		f.Add(recording(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := listInProtobuf(bytes.NewReader(data), 1<<16)
		again, againErr := listInProtobuf(iotest.HalfReader(bytes.NewReader(data)), 1<<16)
		if (err == nil) != (againErr == nil) || (list == nil) != (again == nil) || err != nil && list != nil {
			t.Fatalf("%v, %v; in pieces %v, %v", list, err, again, againErr)
		}
		if list != nil {
			assert.Equal(t, list, again)
			if _, err := json.Marshal(list); err != nil {
				t.Fatalf("%q: %v", data, err)
			}
		}
	})
}

func FuzzWatchProtobuf(f *testing.F) {
	f.Add(recording(f, "metadata-pods-watch.pb"))
	f.Add(frame("ERROR", envelope("v1", "Status", varint(nil, 6, 410))))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkWatch(t, Codec{}, protobufMediaType, data)
		d := newEventDecoder(bytes.NewReader(data), 1<<16, true)
		for range len(data) + 1 {
			event, size, err := d.Next()
			if err != nil {
				return
			}
			if size <= 4 || event.Type == "" || carriesObject(event.Type) != (event.Object != nil) {
				t.Fatalf("%q: %+v, %d", data, event, size)
			}
		}
		t.Fatalf("%q: more events than bytes", data)
	})
}

func TestRowsOfFields(t *testing.T) {
	row := text(text(nil, 11, "a"), 11, strings.Repeat("b", 200))
	for name, after := range map[string][]byte{"another field": text(nil, 12, "c"), "nothing": nil, "something broken": {0xff}} {
		f := fields{rest: append(row[:len(row):len(row)], after...)}
		before := f.rest
		require.True(t, f.next(), name)
		assert.Equal(t, row, f.row(before), name)
		assert.Equal(t, name == "another field", f.next(), name)
		assert.Equal(t, name == "something broken", f.err != nil, name+": it is found when it is its turn")
	}
}
