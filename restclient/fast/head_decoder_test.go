package fast

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
