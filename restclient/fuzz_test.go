package restclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"testing"
	"unicode/utf8"

	"orrery/restclient/api"
)

// FuzzWatchDecoder compares the event decoder, which reads a stream once, with encoding/json, which reads whole events: whatever
// encoding/json understands must be understood in the same way, and nothing may panic or run on after the end.
func FuzzWatchDecoder(f *testing.F) {
	for _, seed := range []string{
		`{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}` + "\n" + `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"2","annotations":{"k8s.io/initial-events-end":"true"}}}}`,
		`{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}`,
		`{"object":{"metadata":{"name":"\"}"}},"type":"DELETED"}`,
		`{"type":"ADDED","object":`,
		`{"type":"ADDED","object":null}`,
		`{"type":"","object":{}}`,
		"{}", "[]", "", " ", "{\"type\":\"\\u0041DDED\",\"object\":{}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkWatch(t, data, false)
		d := newEventDecoder(bytes.NewReader(data), 1<<16, metadataCodec(false))
		reference := json.NewDecoder(bytes.NewReader(data))
		for {
			event, size, err := d.next()
			var want struct {
				Type   api.WatchEventType
				Object json.RawMessage
			}
			if err := reference.Decode(&want); err != nil {
				break
			}
			var object *api.PartialObjectMetadata
			understood := want.Object != nil && json.Unmarshal(want.Object, &object) == nil && object != nil
			if err == nil && plainEvent(data) {
				checkOtherEvent(t, event, want.Type, want.Object)
			}
			isObject := want.Type == api.WatchAdded || want.Type == api.WatchModified || want.Type == api.WatchDeleted
			// Field names in another case, or twice, are the reference's laxness.
			if !isObject || !understood || !plainEvent(data) {
				break
			}
			if err != nil {
				t.Fatalf("%q: %v", data, err)
			}
			if event.Type != want.Type || event.Object.Name != object.Name || event.ResourceVersion != object.ResourceVersion || size <= 0 {
				t.Fatalf("%q: %+v, want %+v", data, event, object)
			}
		}
		for range len(data) + 1 {
			if _, _, err := d.next(); err != nil {
				return
			}
		}
		t.Fatalf("%q: more events than bytes", data)
	})
}

// plainEvent tells whether the fields of an event appear once, and those that are compared as they are spelt.
func plainEvent(data []byte) bool {
	return !bytes.ContainsRune(data, '\\') && bytes.Count(data, []byte(`"type"`))+bytes.Count(data, []byte(`"object"`)) == 2 &&
		spelt(data, "type", "object", "metadata", "name", "resourceVersion")
}

// spelt tells whether there is no field that encoding/json would take for one of these, although it is spelt in another way.
func spelt(data []byte, names ...string) bool {
	lower := bytes.ToLower(data)
	for _, name := range names {
		quoted := []byte(`"` + name + `"`)
		if bytes.Count(lower, bytes.ToLower(quoted)) != bytes.Count(data, quoted) {
			return false
		}
	}
	return !bytes.ContainsAny(data, "ſ\u212a") // which fold to s and k
}

// FuzzListDecoder feeds lists: whatever is accepted must be JSON that encoding/json reads as a list of as many items.
func FuzzListDecoder(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"x"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`,
		`{"items":null,"kind":"PodList"}`, `{"items":[]}`, `{"kind":"Status","status":"Success"}`,
		`{"kind":"Status","status":"Failure","code":409}`, `{"kind":"PodList","items":[{}`, `{"kind":"PodList","items":[{},]}`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkList(t, data)
		list, listed, err := decodeList(bytes.NewReader(data), 1<<16, metadataCodec(false))
		if err != nil || !listed {
			if listed || list != nil {
				t.Fatalf("%q: %v, %v, %v", data, list, listed, err)
			}
			return
		}
		if !json.Valid(data) || bytes.Count(data, []byte(`"items"`)) > 1 || bytes.ContainsRune(data, '\\') {
			return // values that nobody asked for are skipped unread
		}
		var want struct {
			api.ListMeta `json:"metadata"`
			Items        []json.RawMessage `json:"items"`
		}
		if err := json.Unmarshal(data, &want); err == nil && bytes.Contains(data, []byte(`"items"`)) && len(want.Items) != len(list.Items) &&
			bytes.Count(bytes.ToLower(data), []byte("items")) == 1 {
			t.Fatalf("%q: %d items, want %d", data, len(list.Items), len(want.Items))
		} else if err == nil && spelt(data, "continue", "resourceVersion") && bytes.Count(bytes.ToLower(data), []byte("metadata")) == 1 && bytes.Contains(data, []byte(`"metadata"`)) &&
			(list.Continue != want.Continue || list.ResourceVersion != want.ResourceVersion) && len(want.Items) == 0 {
			t.Fatalf("%q: %+v, want %+v", data, list.ListMeta, want.ListMeta)
		}
	})
}

// FuzzRefusal feeds error bodies of any kind: there is always an error with the code and some text, and no secret in it.
func FuzzRefusal(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"Status","status":"Failure","message":"m","reason":"NotFound","code":404,"details":{"retryAfterSeconds":3}}`,
		`{"kind":"Status"}`, `404 page not found`, `<html>`, ``, `{"kind":"Status","details":{"retryAfterSeconds":-1}}`, "\xff\xfe",
	} {
		f.Add(404, []byte(seed))
		f.Add(500, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, code int, body []byte) {
		req := &Request{Path: "/"}
		err := parseRefusal(req, code, body)
		if err.Error() == "" || err.RetryAfter < 0 {
			t.Fatalf("%d %q: %#v", code, body, err)
		}
		if err.Status.Code == 0 && code != 0 {
			t.Fatalf("%d %q: no code", code, body)
		}
		if len(err.Error()) > 4*maxErrorText+len(body) || !utf8.ValidString(err.Error()) {
			t.Fatalf("%d %q: a text of %d bytes", code, body, len(err.Error()))
		}
		var want api.Status
		if bytes.HasPrefix(body, []byte(protobufMagic)) || json.Unmarshal(body, &want) != nil || want.Kind != "Status" {
			return
		}
		got := err.Status
		if want.Code == 0 {
			want.Code = code
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%d %q: %+v, want %+v", code, body, got, want)
		}
		if asked := want.Details != nil && want.Details.RetryAfterSeconds > 0; asked != (err.RetryAfter > 0) {
			t.Fatalf("%d %q: to be asked again in %v", code, body, err.RetryAfter)
		}
	})
}

func TestDecoderReportsReaderErrors(t *testing.T) {
	broken := errors.New("cable cut")
	d := newEventDecoder(io.MultiReader(bytes.NewReader([]byte(`{"type":`)), errReader{broken}), 100, metadataCodec(false))
	if _, _, err := d.next(); !errors.Is(err, broken) {
		t.Fatalf("%v", err)
	}
	_, _, err := decodeList(errReader{broken}, 100, metadataCodec(false))
	if !errors.Is(err, broken) {
		t.Fatalf("%v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }
