package fast

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

const fullHead = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{
 "name":"web","generateName":"w","namespace":"shop","selfLink":"/x","uid":"u","resourceVersion":"7","generation":9007199254740993,
 "creationTimestamp":"2026-03-01T12:00:00Z","deletionTimestamp":"2026-03-01T13:00:00Z","deletionGracePeriodSeconds":30,
 "labels":{"a":"b","ü":"\u00fc\ud83d\ude00","esc":"x\"\\\/\b\f\n\r\ty","empty":"","none":null,"k\"ey":"v"},"annotations":{},
 "ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"2","controller":true}],
 "finalizers":["f1","f2"],"managedFields":[{"manager":"m","fieldsV1":{"f:a":{"k:{\"type\":\"Ready\"}":{}}}}],"later":{"x":[1]}},
 "spec":{"a":[{"b":"}"}]},"status":null}`

func TestDecodeHeadAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range []string{
		fullHead,
		`{}`, `{"metadata":{}}`, `{"metadata":null}`, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{}}`,
		`{"metadata":{"name":null,"labels":null,"annotations":{"a":null},"finalizers":null,"creationTimestamp":null,"deletionTimestamp":null}}`,
		` { "metadata" : { "name" : "a" , "labels" : { "x" : "y" } } } `,
		"{\"metadata\":{\"name\":\"bad \xff utf8\",\"labels\":{\"bad \xff key\":\"\xff\\n\"}}}",
	} {
		var want *partial
		require.NoError(t, json.Unmarshal([]byte(text), &want))
		want.ManagedFields = api.ManagedFields{}
		got, err := new(metadataReader).decode([]byte(text))
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestDecodeHeadRefusesWhatIsNoHead(t *testing.T) {
	for _, text := range []string{
		``, `null`, `[]`, `7`, `{`, `{"metadata":7}`, `{"metadata":nil}`, `{"metadata":{"name":7}}`, `{"metadata":{"name":"a}`,
		`{"metadata":{"labels":[]}}`, `{"metadata":{"labels":nul}}`, `{"metadata":{"labels":{"a":7}}}`, `{"metadata":{"labels":{"a":"b\x"}}}`,
		`{"metadata":{"labels":{"a\x":"b"}}}`, `{"metadata":{"generation":"x"}}`, `{"metadata":{"finalizers":{}}}`, `{"kind":7}`,
		`{"metadata":{"creationTimestamp":"soon"}}`, `{"metadata":{"creationTimestamp":7}}`, `{"metadata":{"managedFields":`, `{"metadata":{"generation":`,
		`{} {}`, `{"metadata":{}`, `{"metadata":`, "{\"metadata\":{\"name\":\"line\nbreak\"}}", "{\"metadata\":{\"name\":\"\\n line\nbreak\"}}", `{"metadata":{"name":"a\"}}`,
	} {
		_, err := new(metadataReader).decode([]byte(text))
		assert.Error(t, err, text)
	}
}

func TestDecodeHeadKeepsNothingOfTheInput(t *testing.T) {
	data := []byte(fullHead)
	got, err := new(metadataReader).decode(data)
	require.NoError(t, err)
	for i := range data {
		data[i] = 'X'
	}
	want, err := new(metadataReader).decode([]byte(fullHead))
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func FuzzDecodeHead(f *testing.F) {
	f.Add([]byte(fullHead))
	f.Add([]byte(`{"metadata":{"labels":{"a":"\ud800"}}}`))
	f.Add([]byte(`{"metadata":{"name":"\/"},"x":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		new(metadataReader).decode(data) // must not panic
		var object *partial
		if json.Unmarshal(data, &object) != nil || object == nil {
			return
		}
		// A server writes each field once, with its exact spelling.
		object.ManagedFields = api.ManagedFields{}
		canonical, err := json.Marshal(object)
		if err != nil {
			return // a year that RFC 3339 cannot express
		}
		var want *partial
		if err := json.Unmarshal(canonical, &want); err != nil {
			return
		}
		got, err := new(metadataReader).decode(canonical)
		if err != nil || !reflect.DeepEqual(want, got) {
			t.Fatalf("%s\n%+v, %v\nwant %+v", canonical, got, err, want)
		}
	})
}

func FuzzUnquote(f *testing.F) {
	for _, seed := range []string{`""`, `"a"`, `"\n"`, `"\u00e9"`, `"\x"`, "\"\xff\"", `"`, `null`, `"a\`, `"\"`, `"\\"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		raw = strings.Trim(raw, " \t\r\n") // what a stream cuts out has no space around it
		r := metadataReader{at: cursor{data: []byte(raw + " ")}}
		got, err := r.textValue()
		if err == nil && r.at.pos != len(raw) {
			err = errShort
		}
		var want string
		wantErr := json.Unmarshal([]byte(raw), &want)
		if (err == nil) != (wantErr == nil) || err == nil && string(got) != want {
			t.Fatalf("%q: %q, %v; want %q, %v", raw, got, err, want, wantErr)
		}
	})
}
