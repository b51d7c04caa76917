package fast

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
)

// FuzzWatchDecoder: a body that the textbook decoder accepts gives the same result here. No input
// causes a panic or events after the end.
func FuzzWatchDecoder(f *testing.F) {
	for _, seed := range []string{
		`{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}` + "\n" +
			`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"2","annotations":{"k8s.io/initial-events-end":"true"}}}}`,
		`{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}`,
		`{"object":{"metadata":{"name":"\"}"}},"type":"DELETED"}`,
		`{"type":"ADDED","object":`,
		`{"type":"ADDED","object":null}`, `{"type":"ERROR","object":null}`, `{"type":"BOOKMARK","object":null}`,
		`{"type":"","object":{}}`,
		`{"tYpe":"00000","oBjeCt":{"0":{"":1e0700}}}`, // the names differ in case
		"{}", "[]", "", " ", "{\"type\":\"\\u0041DDED\",\"object\":{}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, codec := range forms {
			checkWatch(t, codec, data)
		}
		textbook := forms["textbook"].Events(bytes.NewReader(data), 1<<16)
		fast := newEventDecoder(bytes.NewReader(data), 1<<16)
		for range len(data) + 1 {
			want, size, err := textbook.Next()
			if err != nil || !canonical(data) {
				break // unused values are skipped
			}
			got, gotSize, err := fast.Next()
			require.NoError(t, err, "%q", data)
			require.Equal(t, want, got, "%q", data)
			require.Equal(t, size, gotSize, "%q", data)
		}
		for range len(data) + 1 {
			if _, _, err := fast.Next(); err != nil {
				return
			}
		}
		t.Fatalf("%q: more events than bytes", data)
	})
}

// fieldName matches the name of a field, as it is written.
var fieldName = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"\s*:`)

// canonical reports whether no field name has an escape, and none stands twice in an object:
// encoding/json merges repeated objects, and the textbook decoder reads escaped names.
func canonical(data []byte) bool {
	names := fieldName.FindAllSubmatch(data, -1)
	for _, name := range names {
		if bytes.ContainsRune(name[1], '\\') {
			return false
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // a float64 has no room for some numbers
	for fields := 0; ; {
		var document any
		if decoder.Decode(&document) != nil {
			return len(names) == fields
		}
		fields += countIn(document)
	}
}

// countIn returns the number of fields in a document.
func countIn(document any) (fields int) {
	switch value := document.(type) {
	case map[string]any:
		for _, inner := range value {
			fields += 1 + countIn(inner)
		}
	case []any:
		for _, inner := range value {
			fields += countIn(inner)
		}
	}
	return fields
}

// plainHead is fullHead without escapes in the names of fields.
var plainHead = strings.NewReplacer(`"k\"ey"`, `"key"`, `"k:{\"type\":\"Ready\"}"`, `"k:"`).Replace(fullHead)

// FuzzListDecoder: a list that the textbook decoder accepts gives the same result here.
func FuzzListDecoder(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"x"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`,
		`{"items":null,"kind":"PodList"}`, `{"items":[]}`, `{"kind":"Status","status":"Success"}`,
		`{"kind":"Status","status":"Failure","code":409}`, `{"kind":"PodList","items":[{}`,
		`{"kind":"PodList","items":[{},]}`, `{}`,
		`{"items":[{"metadata":{}},{"metadata":null}]}`,
		` {"items":[ { "metadata" : { "labels" : { "x" : "y" } } } ]} `,
		`{"items":[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{}}]}`,
		`{"items":[{"metadata":{"name":null,"labels":null,"annotations":{"a":null},"finalizers":null,` +
			`"creationTimestamp":null,"deletionTimestamp":null}}]}`,
		"{\"items\":[{\"metadata\":{\"name\":\"\x80\"}}]}",
		"{\"items\":[{\"metadata\":{\"name\":\"bad \xff utf8\",\"labels\":{\"bad \xff key\":\"\xff\\n\"}}}]}",
		// Objects that share parts.
		`{"items":[` + plainHead + "," + plainHead + "," + plainHead + `]}`,
		`{"items":[{"metadata":{"labels":{"a":"b"},"managedFields":[{"a":"b"}]}},` +
			`{"metadata":{"labels":{"a":"b","c":"d"}}}]}`,
		`{"items":[{"metadata":{"labels":{},"annotations":{}}},{"metadata":{"labels":{},"ownerReferences":[]}}]}`,
		`{"items":[{"metadata":{"labels":{"a":"\ud800"}}},` +
			`{"metadata":{"name":"\/"},"x":[{}]},{"metadata":{"name":"\u00e9\\"}}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, codec := range forms {
			checkList(t, codec, data)
		}
		want, err := forms["textbook"].List(bytes.NewReader(data), 1<<16)
		var refused *api.StatusError
		if err != nil && !errors.As(err, &refused) || !canonical(data) {
			return
		}
		got, gotErr := Codec{}.List(bytes.NewReader(data), 1<<16)
		require.Equal(t, err, gotErr, "%q", data)
		require.Equal(t, want, got, "%q", data)
	})
}

func TestListsReportReaderErrors(t *testing.T) {
	broken := errors.New("cable cut")
	for name, codec := range forms {
		_, err := codec.List(iotest.ErrReader(broken), 100)
		require.ErrorIs(t, err, broken, name)
		_, err = codec.List(
			io.MultiReader(bytes.NewReader([]byte(`{"kind":"XList","items":[{},`)), iotest.ErrReader(broken)), 100)
		require.ErrorIs(t, err, broken, name)
	}
}

// The invariants for any body.

// checkError: an error has one of the expected kinds. The end between two values is io.EOF, the
// end inside one is io.ErrUnexpectedEOF; no other error is the end of a body.
func checkError(t *testing.T, err error) {
	t.Helper()
	if err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
		require.NotErrorIs(t, err, io.EOF)
		require.Less(t, len((&restclient.DecodeError{Err: err}).Error()), 2048+100,
			"an error does not repeat the body: %v", err)
	}
}

type eventResult struct {
	event event
	size  int
	bad   bool // an error; for a body both invalid and too short, the pieces decide which error comes first
}

// readWatch decodes a body until an error, which is the last result.
func readWatch(t *testing.T, codec restclient.Codec, body io.Reader, limit int) (results []eventResult) {
	t.Helper()
	decoder := codec.Events(body, limit)
	for {
		event, size, err := decoder.Next()
		if d, ok := decoder.(*eventDecoder); ok {
			require.LessOrEqual(t, len(d.stream.buf), max(2*firstBuffer, 4*limit), "the limit bounds the memory")
		}
		if err != nil {
			checkError(t, err)
			return append(results, eventResult{bad: true})
		}
		results = append(results, eventResult{event: event, size: size})
	}
}

// checkWatch: the result does not depend on the pieces in which a body arrives. With a lower limit
// the same events arrive, up to the first that is too long.
func checkWatch(t *testing.T, codec restclient.Codec, data []byte) {
	t.Helper()
	want := readWatch(t, codec, bytes.NewReader(data), 1<<16)
	require.Equal(t, want, readWatch(t, codec, iotest.OneByteReader(bytes.NewReader(data)), 1<<16))
	require.Equal(t, want, readWatch(t, codec, iotest.DataErrReader(bytes.NewReader(data)), 1<<16))
	limited := readWatch(t, codec, bytes.NewReader(data), 512)
	require.Equal(t, want[:len(limited)-1], limited[:len(limited)-1])
}

// checkList: the result does not depend on the pieces in which a list arrives.
func checkList(t *testing.T, codec restclient.Codec, data []byte) {
	t.Helper()
	list, err := codec.List(bytes.NewReader(data), 1<<16)
	again, againErr := codec.List(iotest.OneByteReader(bytes.NewReader(data)), 1<<16)
	require.Equal(t, err == nil, againErr == nil, "a list that comes byte by byte is as good as one that comes at once")
	require.Equal(t, list, again, "a list that comes byte by byte is the one that comes at once")
	if err != nil {
		checkError(t, err)
	}
}

// forms are the decoders that are compared.
var forms = map[string]restclient.Codec{"textbook": restclient.PlainCodec(), "fast": Codec{}}
