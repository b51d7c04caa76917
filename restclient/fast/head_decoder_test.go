package fast

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/restclient/restclienttest"
)

const fullHead = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{
 "name":"web","generateName":"w","namespace":"shop","uid":"u","resourceVersion":"7","generation":9007199254740993,
 "creationTimestamp":"2026-03-01T12:00:00Z","deletionTimestamp":"2026-03-01T13:00:00Z","deletionGracePeriodSeconds":30,
 "labels":{"a":"b","ü":"\u00fc\ud83d\ude00","esc":"x\"\\\/\b\f\n\r\ty","empty":"","none":null,"k\"ey":"v"},"annotations":{},
 "ownerReferences":[{"apiVersion":"v1","kind":"K","name":"o","uid":"2","controller":true}],
 "finalizers":["f1","f2"],"managedFields":[{"manager":"m","fieldsV1":{"f:a":{"k:{\"type\":\"Ready\"}":{}}}}],"later":{"x":[1]}},
 "spec":{"a":[{"b":"}"}]},"status":null}`

func TestDecodeHeadRefusesWhatIsNoHead(t *testing.T) {
	for _, text := range []string{
		``, `null`, `[]`, `7`, `{`, `{"metadata":7}`, `{"metadata":nil}`, `{"metadata":{"name":7}}`,
		`{"metadata":{"name":"a}`,
		`{"metadata":{"labels":[]}}`, `{"metadata":{"labels":nul}}`, `{"metadata":{"labels":{"a":7}}}`,
		`{"metadata":{"labels":{"a":"b\x"}}}`,
		`{"metadata":{"labels":{"a\x":"b"}}}`, `{"metadata":{"generation":"x"}}`, `{"metadata":{"finalizers":{}}}`,
		`{"kind":7}`,
		`{"metadata":{"creationTimestamp":"soon"}}`, `{"metadata":{"creationTimestamp":7}}`,
		`{"metadata":{"managedFields":`, `{"metadata":{"generation":`,
		`{} {}`, `{"metadata":{}`, `{"metadata":`, "{\"metadata\":{\"name\":\"line\nbreak\"}}",
		"{\"metadata\":{\"name\":\"\\n line\nbreak\"}}", `{"metadata":{"name":"a\"}}`,
	} {
		_, err := new(metadataReader).decode([]byte(text))
		assert.Error(t, err, text)
	}
}

func TestDecodeHeadAgreesWithEncodingJSONAndKeepsNothingOfTheInput(t *testing.T) {
	var want *partial
	require.NoError(t, json.Unmarshal([]byte(fullHead), &want))
	want.ManagedFields = api.ManagedFields{}
	data := []byte(fullHead)
	got, err := new(metadataReader).decode(data)
	require.NoError(t, err)
	for i := range data {
		data[i] = 'X'
	}
	assert.Equal(t, want, got)
}

// deploymentList is a list of n pods of one deployment.
func deploymentList(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"9"},"items":[`)
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b,
			`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"web-7c5ddbdf54-%04d","generateName":"web-7c5ddbdf54-",`+
				`"namespace":"shop","uid":"u-%d","resourceVersion":"%d","generation":1,"creationTimestamp":"2026-01-05T08:00:%02dZ",`+
				`"labels":{"app":"web","tier":"front"},"annotations":{"id":"%d","scrape":"true"},`+
				`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7c5ddbdf54","uid":"x","controller":true}],`+
				`"managedFields":[{"manager":"kubelet","time":"2026-01-05T08:00:%02dZ","fieldsV1":{"f:status":{%s"k:{\"ip\":\"10.0.0.%d\"}":{}}}}]}}`,
			i, i, i, i%60, i, i%60, strings.Repeat(`"f:x":{},`, 60), i%250)
	}
	b.WriteString("]}")
	return b.Bytes()
}

// encoding/json is the reference: whatever objects share, each equals its separate decoding.
// Objects at the end of a buffer are read differently; with buffers of all sizes each is such an
// object once.
func TestListOfHeadsAgreesWithEncodingJSON(t *testing.T) {
	data := deploymentList(40)
	var want api.List[*partial]
	require.NoError(t, json.Unmarshal(data, &want))
	for _, size := range []int{len(data), 1, 997, 1500} {
		body := &pieceReader{string(data), size}
		list, err := Codec{}.List(body, 1<<20)
		require.NoError(t, err)
		require.Len(t, list.Items, 40)
		for i, got := range list.Items {
			want.Items[i].ManagedFields = api.ManagedFields{}
			assert.Equal(t, want.Items[i], got)
		}
	}
}

// An object of which only the beginning has arrived is read again from its start, in a buffer that
// has moved meanwhile. The maps of the first attempt, whose bytes are others now, must not be
// remembered.
func TestAnUnfinishedObjectIsForgotten(t *testing.T) {
	var r metadataReader
	a, b := `{"metadata":{"labels":{"app":"a"},"name":"one"}}`, `{"metadata":{"labels":{"app":"b"},"name":"two"}}`
	buffer := []byte(a)
	_, _, err := r.readJSON(buffer[:len(buffer)-4])
	require.Equal(t, errShort, err)
	copy(buffer, b)
	for _, object := range []struct{ data, app string }{{a, "a"}, {b, "b"}} {
		got, err := r.decode([]byte(object.data))
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"app": object.app}, got.Labels)
	}
}

// The last value of a key is a part of its object's text: a long one would keep all of that in
// memory while a watch is open.
func TestLongValuesAreNotRemembered(t *testing.T) {
	var r metadataReader
	for _, length := range []int{maxInternedLength, maxInternedLength + 1} {
		value := strings.Repeat("x", length)
		object, err := r.decode(fmt.Appendf(nil, `{"metadata":{"annotations":{"length %d":%q}}}`, length, value))
		require.NoError(t, err)
		key := fmt.Sprintf("length %d", length)
		require.Equal(t, value, object.Annotations[key])
		assert.Equal(t, length <= maxInternedLength, r.parts.intern([]byte(key)).last != "", "%s is remembered", key)
	}
}

func TestObjectsOfAListShareWhatIsEqual(t *testing.T) {
	list, err := Codec{}.List(bytes.NewReader(deploymentList(40)), 1<<20)
	require.NoError(t, err)
	a, b := list.Items[20], list.Items[21]
	same := func(x, y any) bool { return reflect.ValueOf(x).Pointer() == reflect.ValueOf(y).Pointer() }
	assert.True(t, same(a.Labels, b.Labels))
	assert.True(t, same(a.OwnerReferences, b.OwnerReferences))
	assert.False(t, same(a.Annotations, b.Annotations), "they differ")
	assert.Equal(t, unsafe.StringData(a.Namespace), unsafe.StringData(b.Namespace))
	assert.Equal(t, unsafe.StringData(a.Annotations["scrape"]), unsafe.StringData(b.Annotations["scrape"]))
	assert.Equal(t, unsafe.StringData(a.Name), unsafe.StringData(a.GenerateName),
		"a name begins with what it was generated from")

	copied := a.DeepCopy()
	copied.Labels["app"], *copied.OwnerReferences[0].Controller = "other", false
	assert.Equal(t, "web", b.Labels["app"], "a copy shares no mutable state")
	assert.True(t, *b.OwnerReferences[0].Controller)
}

// live returns the bytes of the heap that are in use.
func live() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// The cost of each object of a large list. The limits are those of a 64-bit machine with some
// margin; a separate decoding takes 2.2 kB and 19 allocations.
func TestObjectsOfAListAreSmall(t *testing.T) {
	const n = 5000
	data := deploymentList(n)
	before := live()
	list, err := Codec{}.List(bytes.NewReader(data), 1<<20)
	require.NoError(t, err)
	after := live()
	perObject := float64(after-before) / n
	assert.Less(t, perObject, 950.0, "bytes an object")
	require.Len(t, list.Items, n)

	allocs := testing.AllocsPerRun(3, func() { Codec{}.List(bytes.NewReader(data), 1<<20) })
	assert.Less(t, allocs/n, 5.0, "allocations an object")
}

// A retained object must not retain the others: each object has its own string.
func TestOneObjectDoesNotKeepTheOthers(t *testing.T) {
	const n = 5000
	data := deploymentList(n)
	before := live()
	list, err := Codec{}.List(bytes.NewReader(data), 1<<20)
	require.NoError(t, err)
	last := list.Items[n-1]
	list = nil
	assert.Less(t, int64(live())-int64(before), int64(100<<10))
	runtime.KeepAlive(data)
	runtime.KeepAlive(last)
}

// A quiet watch must not retain the last object.
func TestReaderDoesNotKeepTheLastObject(t *testing.T) {
	r := &metadataReader{}
	read := func() weak.Pointer[api.PartialObjectMetadata] {
		head, _, err := r.readJSON([]byte(fullHead))
		require.NoError(t, err)
		return weak.Make(head)
	}
	gone := read()
	runtime.GC()
	assert.Nil(t, gone.Value())
	runtime.KeepAlive(r)
}

// The cache is bounded, however different the objects are.
func TestMemoryOfAReaderIsBounded(t *testing.T) {
	r := &metadataReader{}
	for i := range 20_000 {
		_, _, err := r.readJSON(fmt.Appendf(nil,
			`{"metadata":{"name":"n","namespace":"ns-%d","labels":{"key-%d":"%d"},"managedFields":[{"f%d":%d}]}}`, i, i,
			i, i, i))
		require.NoError(t, err)
	}
	assert.LessOrEqual(t, len(r.parts.strings), maxInterned)
	long := strings.Repeat("x", maxInternedLength+1)
	r = &metadataReader{}
	_, _, err := r.readJSON([]byte(`{"metadata":{"namespace":"` + long + `"}}`))
	require.NoError(t, err)
	assert.Empty(t, r.parts.strings)
}

// A watch runs for minutes and holds one buffer: it must not keep the large one after a large
// event.
func TestStreamGivesLargeBuffersUp(t *testing.T) {
	s := newStream(strings.NewReader(`"`+strings.Repeat("x", 1<<20)+`" "y"`), 2<<20, "a value")
	_, err := s.value()
	require.NoError(t, err)
	require.Greater(t, len(s.buf), largeBuffer)
	_, err = s.value()
	require.NoError(t, err)
	_, err = s.peek()
	require.Equal(t, io.EOF, err)

	r, w := io.Pipe()
	s = newStream(r, 2<<20, "a value")
	go func() {
		io.WriteString(w, `"`+strings.Repeat("x", 1<<20)+`"`)
		io.WriteString(w, `"y"`)
		w.Close()
	}()
	for range 2 {
		_, err = s.value()
		require.NoError(t, err)
	}
	assert.Equal(t, firstBuffer, len(s.buf))
}

// Wherever a read ends, the stream cuts the same values and counts their bytes.
func TestStreamCutsValues(t *testing.T) {
	values := []string{`{}`, `-1.5e3`, `{"a":{"b":["}","]","\"}","\\"]}}`,
		`"` + strings.Repeat(`x\"`, 9000) + `"`, `null`}
	text := strings.Join(values, " ")
	for _, size := range []int{1, 2, 3, 4, 5, 7, len(text)} {
		s := newStream(&pieceReader{text, size}, len(values[3]), "a value")
		end := 0
		for _, want := range values {
			got, err := s.value()
			require.NoError(t, err, "pieces of %d bytes; a value may be as long as the limit", size)
			assert.Equal(t, want, string(got), "pieces of %d bytes", size)
			end += len(want)
			assert.EqualValues(t, end, s.offset(), "the bytes up to the end of %.10s", want)
			end++
		}
		assert.NoError(t, s.finish(), "the end of the body ends a scalar")
	}
}

// Escapes in long strings (a file in a ConfigMap) must not make the search quadratic, which takes
// minutes.
func TestStreamScansEscapesOnce(t *testing.T) {
	text := `"` + strings.Repeat(`line\n`, 1<<20) + `"`
	s := newStream(strings.NewReader(text), 16<<20, "a value")
	got, err := s.value()
	require.NoError(t, err)
	assert.Len(t, got, len(text))
}

type pieceReader struct {
	text string
	size int
}

func (r *pieceReader) Read(p []byte) (int, error) {
	if r.text == "" {
		return 0, io.EOF
	}
	n := copy(p, r.text[:min(r.size, len(r.text))])
	r.text = r.text[n:]
	return n, nil
}

func TestContract(t *testing.T) { restclienttest.RunEvents(t, Codec{}.Events) }

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
