package fast

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// FuzzWatchDecoder: a body that the textbook decoder accepts gives the same result here. No input
// causes a panic or events after the end.
func FuzzWatchDecoder(f *testing.F) {
	for _, seed := range []string{
		`{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}` + "\n" + `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"2","annotations":{"k8s.io/initial-events-end":"true"}}}}`,
		`{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}`,
		`{"object":{"metadata":{"name":"\"}"}},"type":"DELETED"}`,
		`{"type":"ADDED","object":`,
		`{"type":"ADDED","object":null}`, `{"type":"ERROR","object":null}`, `{"type":"BOOKMARK","object":null}`,
		`{"type":"","object":{}}`,
		`{"tYpe":"00000","oBjeCt":{"0":{"":1e0700}}}`, // not canonical: the names differ in case
		"{}", "[]", "", " ", "{\"type\":\"\\u0041DDED\",\"object\":{}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, codec := range forms {
			checkWatch(t, codec, data)
		}
		textbook, err := forms["textbook"].Events("application/json", bytes.NewReader(data), 1<<16)
		require.NoError(t, err)
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

// canonical reports whether field names are spelt as servers write them, and none twice:
// encoding/json is laxer, and merges repeated objects.
func canonical(data []byte) bool {
	if bytes.ContainsRune(data, '\\') || bytes.ContainsAny(data, "\u017f\u212a") { // which fold to s and k
		return false
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // a float64 has no room for some numbers
	for {
		var document any
		if decoder.Decode(&document) != nil {
			return true
		}
		if !spelt(document) || bytes.Count(data, []byte(`":`)) != count(data) {
			return false
		}
	}
}

// count returns the number of fields in all documents.
func count(data []byte) (fields int) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	for {
		var document any
		if decoder.Decode(&document) != nil {
			return fields
		}
		fields += countIn(document)
	}
}

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

// spelt reports whether no field has a name that encoding/json would match to a known one in
// another case.
func spelt(document any) bool {
	switch value := document.(type) {
	case map[string]any:
		for name, inner := range value {
			if lower := bytes.ToLower([]byte(name)); !known[name] && knownInLower[string(lower)] || !spelt(inner) {
				return false
			}
		}
	case []any:
		for _, inner := range value {
			if !spelt(inner) {
				return false
			}
		}
	}
	return true
}

var known, knownInLower = func() (map[string]bool, map[string]bool) {
	names, lower := map[string]bool{}, map[string]bool{}
	for _, name := range []string{
		"type", "object", "kind", "apiVersion", "metadata", "items", "name", "generateName", "namespace", "selfLink", "uid",
		"resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels",
		"annotations", "ownerReferences", "finalizers", "managedFields", "continue", "remainingItemCount", "status", "message",
		"reason", "details", "code", "group", "causes", "field", "retryAfterSeconds", "controller", "blockOwnerDeletion",
	} {
		names[name], lower[string(bytes.ToLower([]byte(name)))] = true, true
	}
	return names, lower
}()

// FuzzListDecoder: a list that the textbook decoder accepts gives the same result here.
func FuzzListDecoder(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"x"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`,
		`{"items":null,"kind":"PodList"}`, `{"items":[]}`, `{"kind":"Status","status":"Success"}`,
		`{"kind":"Status","status":"Failure","code":409}`, `{"kind":"PodList","items":[{}`, `{"kind":"PodList","items":[{},]}`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, codec := range forms {
			checkList(t, codec, data)
		}
		want, err := forms["textbook"].List("application/json", bytes.NewReader(data), 1<<16)
		var refused *api.StatusError
		if err != nil && !errors.As(err, &refused) || !canonical(data) {
			return
		}
		got, gotErr := Codec{}.List("application/json", bytes.NewReader(data), 1<<16)
		require.Equal(t, err, gotErr, "%q", data)
		require.Equal(t, want, got, "%q", data)
	})
}

func TestDecodersReportReaderErrors(t *testing.T) {
	broken := errors.New("cable cut")
	for name, codec := range forms {
		d, err := codec.Events("application/json",
			io.MultiReader(bytes.NewReader([]byte(`{"type":`)), iotest.ErrReader(broken)), 100)
		require.NoError(t, err)
		_, _, err = d.Next()
		require.ErrorIs(t, err, broken, name)
		_, err = codec.List("application/json", iotest.ErrReader(broken), 100)
		require.ErrorIs(t, err, broken, name)
		_, err = codec.List("application/json",
			io.MultiReader(bytes.NewReader([]byte(`{"kind":"XList","items":[{},`)), iotest.ErrReader(broken)), 100)
		require.ErrorIs(t, err, broken, name)
	}
}
