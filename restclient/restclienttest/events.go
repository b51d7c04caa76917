package restclienttest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient"
	"orrery/restclient/api"
)

// OpenEvents returns a new decoder of the events in body, each of at most limit bytes of JSON.
type OpenEvents func(body io.Reader, limit int) restclient.EventDecoder[*api.PartialObjectMetadata]

// RunEvents runs the contract of a decoder of watch events against the decoders that open returns.
func RunEvents(t *testing.T, open OpenEvents) {
	for _, group := range []struct {
		name  string
		cases []eventCase
	}{
		{"Objects", objectCases}, {"Bookmarks", bookmarkCases}, {"Errors", errorCases}, {"Ends", endCases},
		{"Limits", limitCases}, {"Malformed", malformedCases},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) { c.run(t, open) })
			}
		})
	}
}

// eventCase is one behaviour.
type eventCase struct {
	name string
	run  func(*testing.T, OpenEvents)
}

type watchEvent = api.WatchEvent[*api.PartialObjectMetadata]

// enough is a limit that no event of the cases reaches.
const enough = 1 << 20

const (
	added    = `{"type":"ADDED","object":{"metadata":{"name":"web-1","resourceVersion":"10596"}}}`
	modified = `{"type":"MODIFIED","object":{"metadata":{"name":"web-1","resourceVersion":"11020"}}}`
	deleted  = `{"type":"DELETED","object":{"metadata":{"name":"web-1","resourceVersion":"12001"}}}`
	bookmark = `{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"12746"}}}`
	expired  = `{"type":"ERROR","object":{"kind":"Status","status":"Failure","code":410,"reason":"Expired","message":"too old"}}`
)

// inShort describes an event, on one line.
func inShort(e watchEvent) string {
	text := fmt.Sprintf("%s at %q", e.Type, e.ResourceVersion)
	if e.Object != nil {
		text += fmt.Sprintf(", object %q at %q", e.Object.Name, e.Object.ResourceVersion)
	}
	if e.InitialEventsEnd {
		text += ", end of the initial events"
	}
	if e.Status != nil {
		text += fmt.Sprintf(", status %d %s", e.Status.Code, e.Status.Reason)
	}
	return text
}

// eventReader decodes the events of one body, and fails the test where it should not end.
type eventReader struct {
	*testing.T
	decoder restclient.EventDecoder[*api.PartialObjectMetadata]
}

func (open OpenEvents) reader(t *testing.T, body io.Reader, limit int) eventReader {
	return eventReader{t, open(body, limit)}
}

func (open OpenEvents) text(t *testing.T, body string) eventReader {
	return open.reader(t, strings.NewReader(body), enough)
}

// event returns the next event.
func (r eventReader) event(what string) watchEvent {
	r.Helper()
	event, _, err := r.decoder.Next()
	require.NoError(r, err, "%s: want the event, got an error", what)
	return event
}

// end returns the error in place of the next event.
func (r eventReader) end(what string) error {
	r.Helper()
	event, _, err := r.decoder.Next()
	require.Error(r, err, "%s: want an error, got an event of type %q", what, event.Type)
	return err
}

var objectCases = []eventCase{
	{"InOrder", func(t *testing.T, open OpenEvents) {
		r := open.text(t, added+"\n"+modified+"\n"+deleted+"\n")
		assert.Equal(t, `ADDED at "10596", object "web-1" at "10596"`, inShort(r.event("the first event")),
			"the first event")
		assert.Equal(t, `MODIFIED at "11020", object "web-1" at "11020"`, inShort(r.event("the second event")),
			"the second event")
		assert.Equal(t, `DELETED at "12001", object "web-1" at "12001"`, inShort(r.event("the deletion")),
			"a deletion has the object's last state, with the version of the deletion")
	}},
	{"LongEvent", func(t *testing.T, open OpenEvents) {
		long := `{"type":"ADDED","object":{"metadata":{"name":"long","annotations":{"a":"` +
			strings.Repeat("x", 100<<10) + `"}}}}`
		r := open.text(t, added+"\n"+long+"\n"+modified+"\n")
		r.event("the first event")
		assert.Equal(t, "long", r.event("an event of 100 KiB").Object.Name, "an event may be as long as the limit")
		assert.Equal(t, "11020", r.event("the event after the long one").ResourceVersion)
	}},
	{"FieldsInAnyOrder", func(t *testing.T, open OpenEvents) {
		r := open.text(t,
			`{"object":{"metadata":{"name":"a","resourceVersion":"3"}},"more":[1,{"type":"x"}],"type":"DELETED"}`)
		assert.Equal(t, `DELETED at "3", object "a" at "3"`,
			inShort(r.event("an event with the object before the type")), "the fields may come in any order")
	}},
	{"FromTheServer", func(t *testing.T, open OpenEvents) { // the decoder of the collection completes its objects
		r := open.text(t, `{"type":"ADDED","object":{"metadata":{"name":"a","managedFields":[{"manager":"kubectl"}]}}}`)
		assert.True(t, r.event("an object with managed fields").Object.ManagedFields.IsZero(),
			"the object is decoded as objects of this collection are: without managed fields")
	}},
	{"Independent", func(t *testing.T, open OpenEvents) {
		r := open.text(t,
			`{"type":"ADDED","object":{"metadata":{"name":"a","labels":{"tier":"web"}}}}{"type":"ADDED","object":{"metadata":{"name":"b"}}}`)
		first := r.event("the first event").Object
		second := r.event("the second event").Object
		assert.Empty(t, second.Labels, "the second object has labels of the first")
		assert.Equal(t, "a", first.Name, "the second event changed the object of the first")
		assert.Equal(t, map[string]string{"tier": "web"}, first.Labels,
			"the second event changed the object of the first")
	}},
	// encoding/json alone takes them for the fields of an event or an object.
	{"NamesOfAnotherCase", func(t *testing.T, open OpenEvents) {
		r := open.text(t, `{"type":"ADDED","object":{"metadata":{"name":"a","finalizers":["hold"],"Finalizers":[],`+
			`"ResourceVersion":"9","ownerReferences":[{"uid":"1","UID":"2"}]},"Metadata":{"name":"b"},"Kind":"Pod"},`+
			`"Type":"DELETED","Object":{},"OBJECT":null}`)
		object := r.event("an event").Object
		require.NotNil(t, object, "the type of an event is its field type, not Type")
		assert.Equal(t, "a", object.Name, "field names are case-sensitive: Metadata is not metadata")
		assert.Equal(t, []string{"hold"}, object.Finalizers, "Finalizers is not finalizers")
		assert.Empty(t, object.ResourceVersion, "ResourceVersion is not resourceVersion")
		assert.Empty(t, object.Kind, "Kind is not kind")
		assert.Equal(t, "1", object.OwnerReferences[0].UID, "UID is not uid")
	}},
	{"Size", func(t *testing.T, open OpenEvents) {
		r := open.text(t, "\n \n"+added+"\n\n"+bookmark+"\n")
		for _, want := range []string{added, bookmark} {
			_, size, err := r.decoder.Next()
			require.NoError(t, err)
			assert.Equal(t, len(want), size,
				"the size of an event is that of its JSON, without the white space around it")
		}
	}},
	// The pieces in which the bytes arrive mean nothing.
	{"Pieces", func(t *testing.T, open OpenEvents) {
		body := added + modified + "\n" + deleted + "\r\n\t " + bookmark
		for name, pieces := range map[string]func(io.Reader) io.Reader{
			"all at once": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader,
			"in halves": iotest.HalfReader, "with the end in its last piece": iotest.DataErrReader,
		} {
			r := open.reader(t, pieces(strings.NewReader(body)), enough)
			for _, want := range []string{"10596", "11020", "12001", "12746"} {
				assert.Equal(t, want, r.event(name).ResourceVersion, "the body arrives %s", name)
			}
			assert.Equal(t, io.EOF, r.end(name), "the body arrives %s", name)
		}
	}},
	// A quiet watch: the next event may be an hour away.
	{"AtOnce", func(t *testing.T, open OpenEvents) {
		synctest.Test(t, func(t *testing.T) {
			body, server := io.Pipe()
			r := open.reader(t, body, enough)
			versions := make(chan string, 1)
			go func() {
				defer close(versions)
				if event, _, err := r.decoder.Next(); err == nil {
					versions <- event.ResourceVersion
				}
			}()
			go io.WriteString(server, added)
			synctest.Wait()
			select {
			case version := <-versions:
				assert.Equal(t, "10596", version, "the resource version of the event")
			default:
				t.Error("want the event as soon as it is complete, but Next waits for more of the body")
			}
			server.Close()
			for range versions {
			}
		})
	}},
}

var bookmarkCases = []eventCase{
	{"OnlyAVersion", func(t *testing.T, open OpenEvents) {
		r := open.text(t, added+bookmark)
		r.event("the first event")
		assert.Equal(t, `BOOKMARK at "12746"`, inShort(r.event("a bookmark")),
			"a bookmark has no object, only a resource version")
	}},
	{"EndOfTheInitialEvents", func(t *testing.T, open OpenEvents) {
		const body = `{"type":%q,"object":{"metadata":{"resourceVersion":"31","annotations":{"k8s.io/initial-events-end":%q}}}}`
		event := func(kind api.WatchEventType, value string) string {
			return inShort(open.text(t, fmt.Sprintf(body, kind, value)).event(string(kind)))
		}
		assert.Equal(t, `BOOKMARK at "31", end of the initial events`, event(api.WatchBookmark, "true"),
			"the bookmark that ends the initial events")
		assert.Equal(t, `BOOKMARK at "31"`, event(api.WatchBookmark, "false"),
			`only the value "true" ends the initial events`)
		assert.Equal(t, `ADDED at "31", object "" at "31"`, event(api.WatchAdded, "true"),
			"only a bookmark ends the initial events")
	}},
	{"UnknownType", func(t *testing.T, open OpenEvents) {
		r := open.text(t,
			`{"type":"INVENTED","object":{"metadata":{"name":"b","resourceVersion":"33","annotations":{"k8s.io/initial-events-end":"true"}}}}`)
		assert.Equal(t, `INVENTED at "33"`, inShort(r.event("an event of unknown type")),
			"of an unknown type, only the resource version is known")
	}},
}

var errorCases = []eventCase{
	{"Status", func(t *testing.T, open OpenEvents) {
		r := open.text(t, added+"\n"+expired+"\n")
		r.event("the first event")
		want := api.Status{TypeMeta: api.TypeMeta{Kind: "Status"}, Status: api.StatusFailure, Code: 410,
			Reason: api.ReasonExpired, Message: "too old"}
		got := r.event("an ERROR event")
		require.Equal(t, `ERROR at "", status 410 Expired`, inShort(got),
			"an ERROR event has a Status, but neither an object nor a resource version")
		assert.Equal(t, want, *got.Status, "the Status is decoded with all its fields")
		assert.Equal(t, io.EOF, r.end("after the ERROR event"), "the end of the body after the ERROR event")
	}},
	{"NamesOfAnotherCase", func(t *testing.T, open OpenEvents) {
		r := open.text(t, `{"Type":"ADDED","type":"BOOKMARK","object":{"metadata":{"resourceVersion":"3"},`+
			`"METADATA":{"resourceVersion":"4"}},"Object":{}}`+
			`{"type":"ERROR","object":{"code":410,"Code":404,"reason":"Expired","Reason":"NotFound"}}`+
			`{"Type":"ADDED","object":{"metadata":{}}}`)
		assert.Equal(t, `BOOKMARK at "3"`, inShort(r.event("a bookmark")), "METADATA is not metadata")
		assert.Equal(t, `ERROR at "", status 410 Expired`, inShort(r.event("an ERROR event")),
			"Code is not code, and Reason is not reason")
		assert.ErrorContains(t, r.end("an event with Type only"), "without a type")
	}},
	{"LongTexts", func(t *testing.T, open OpenEvents) {
		r := open.text(t, `{"type":"ERROR","object":{"kind":"Status","code":410,"message":"`+strings.Repeat("x",
			1<<19)+`"}}`)
		message := r.event("an ERROR event with a long message").Status.Message
		assert.LessOrEqual(t, len(message), api.MaxText+len(api.CutMark),
			"the texts of a Status are cut: they travel on into logs and conditions")
	}},
	{"VersionOfAStatus", func(t *testing.T, open OpenEvents) {
		r := open.text(t, `{"type":"ERROR","object":{"kind":"Status","metadata":{"resourceVersion":"7"},"code":500}}`)
		assert.Empty(t, r.event("an ERROR event").ResourceVersion,
			"the version of a Status is no position to resume from")
	}},
	{"OtherEventsHaveNone", func(t *testing.T, open OpenEvents) {
		for _, body := range []string{added, bookmark} {
			assert.Nil(t, open.text(t, body).event(body).Status, "only ERROR has a Status: %s", body)
		}
	}},
}

var endCases = []eventCase{
	{"BetweenEvents", func(t *testing.T, open OpenEvents) {
		for _, body := range []string{"", "\n", added, added + "\n", added + "\n" + bookmark + " \r\n\n"} {
			r := open.text(t, body)
			for range strings.Count(body, "type") {
				r.event(body)
			}
			for range 2 {
				assert.Equal(t, io.EOF, r.end(body),
					"an end between two events is normal: want io.EOF itself, not wrapped")
			}
		}
	}},
	{"InsideAnEvent", func(t *testing.T, open OpenEvents) {
		for cut := 1; cut < len(modified); cut++ {
			r := open.text(t, added+"\n"+modified[:cut])
			r.event("the event before the cut")
			err := r.end("an event cut after " + modified[:cut])
			if !assert.ErrorIs(t, err, io.ErrUnexpectedEOF,
				"an end inside an event is a broken connection: want io.ErrUnexpectedEOF after %s", modified[:cut]) {
				return
			}
			assert.False(t, errors.Is(err, io.EOF), "io.EOF would mean that the server ended the watch")
		}
	}},
	{"BrokenConnection", func(t *testing.T, open OpenEvents) {
		reset := errors.New("connection reset")
		for _, rest := range []string{"", "\n", modified[:20]} {
			r := open.reader(t, io.MultiReader(strings.NewReader(added+rest), iotest.ErrReader(reset)), enough)
			r.event("the event before the reset")
			assert.ErrorIs(t, r.end("after the reset"), reset, "the body's own error is returned: %q had arrived", rest)
		}
	}},
}

var limitCases = []eventCase{
	// White space around an event does not count.
	{"Exact", func(t *testing.T, open OpenEvents) {
		body := strings.Repeat("\n \n"+added, 3)
		r := open.reader(t, strings.NewReader(body), len(added))
		for range 3 {
			r.event("an event of exactly the limit")
		}
		var large *restclient.TooLargeError
		err := open.reader(t, strings.NewReader(body), len(added)-1).end("an event of one byte more than the limit")
		require.ErrorAs(t, err, &large, "an event of one byte more than the limit: want a *TooLargeError")
		assert.Equal(t, restclient.TooLargeError{What: "a watch event", Limit: len(added) - 1}, *large)
	}},
	// A server that sends an endless event must not fill the memory: the limit bounds what is read,
	// not only what is accepted.
	{"Endless", func(t *testing.T, open OpenEvents) {
		const limit = 10_000
		body := &endlessBody{begin: `{"type":"`}
		var large *restclient.TooLargeError
		assert.ErrorAs(t, open.reader(t, body, limit).end("an endless event"), &large,
			"an endless event: want a *TooLargeError")
		assert.Less(t, body.read, 10*limit, "the decoder read %d bytes, with a limit of %d", body.read, limit)
	}},
	// The limit is for each event.
	{"ManyEvents", func(t *testing.T, open OpenEvents) {
		const events = 10_000
		r := open.reader(t, strings.NewReader(strings.Repeat(added+"\n", events)), 2*len(added))
		for range events {
			r.event("an event of half the limit")
		}
		assert.Equal(t, io.EOF, r.end("the end"))
	}},
}

// endlessBody is a body with an endless string. It counts the bytes read.
type endlessBody struct {
	begin string
	read  int
}

// Read implements io.Reader.
func (e *endlessBody) Read(p []byte) (int, error) {
	if e.read > 100<<20 {
		return 0, errors.New("the decoder reads without a limit")
	}
	n := copy(p, e.begin)
	e.begin = e.begin[n:]
	for i := n; i < len(p); i++ {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

var malformedCases = []eventCase{
	{"NoType", malformed(`{"object":{}}`, "a watch event without a type")},
	{"EmptyType", malformed(`{"type":"","object":{}}`, "a watch event without a type")},
	{"NoObject", malformed(`{"type":"ADDED"}`, "a watch event without an object")},
	{"NullObject", malformed(`{"type":"ADDED","object":null}`, "null where an object should be")},
	{"OddObject", malformed(`{"type":"ADDED","object":{"metadata":7}}`,
		"cannot unmarshal number|'7' at byte .* where { should be")},
	{"NumberObject", malformed(`{"object":7,"type":"ADDED"}`,
		"cannot unmarshal number|'7' at byte .* where { should be")},
	{"NumberType", malformed(`{"type":7,"object":{}}`, "cannot unmarshal number|'7' at byte .* where \" should be")},
	{"OddStatus", malformed(`{"type":"ERROR","object":[]}`, "cannot unmarshal array")},
	{"NullStatus", malformed(`{"type":"ERROR","object":null}`, "null where an object should be")},
	{"OddBookmark", malformed(`{"type":"BOOKMARK","object":[]}`,
		"cannot unmarshal array|'\\[' at byte 0 where { should be")},
	{"BareBookmark", malformed(`{"type":"BOOKMARK"}`, "a watch event without an object")},
	{"NullBookmark", malformed(`{"type":"BOOKMARK","object":null}`, "null where an object should be")},
	{"Syntax", malformed(`{"type":"ADDED","object":{"a":}}`,
		"invalid character '}'|'}' at byte .* where a value should be")},
	{"NoJSON", malformed(`hello`, "invalid character 'h'|'h' at byte .* where { should be")},
	{"Array", malformed(`[]`, "cannot unmarshal array|'\\[' at byte .* where { should be")},
}

// malformed returns the case of an event that is complete but cannot be decoded. The error is a
// regular expression, because the forms of the decoder word some of it differently.
func malformed(event, want string) func(*testing.T, OpenEvents) {
	return func(t *testing.T, open OpenEvents) {
		r := open.text(t, added+"\n"+event+"\n"+added)
		r.event("the event before")
		err := r.end(event)
		assert.Regexp(t, want, err.Error(), "the event %s", event)
		assert.False(t, errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF), "the body did not end: %v", err)
	}
}
