package restclient

import (
	"encoding/json"
	"errors"
	"io"

	"orrery/restclient/api"
)

// watchDecoder is the textbook decoder of a watch: it reads events from a body with encoding/json. The body is the same
// over HTTP and over a websocket: one JSON object for each event, one after the other, until the server ends it
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes):
//
//	{"type": "ADDED",    "object": {"kind": "Pod", "metadata": {"name": "web-1", "resourceVersion": "10596", ...}, ...}}
//	{"type": "MODIFIED", "object": {"kind": "Pod", "metadata": {"name": "web-1", "resourceVersion": "11020", ...}, ...}}
//	{"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {"resourceVersion": "12746"}}}
//	{"type": "ERROR",    "object": {"kind": "Status", "code": 410, "reason": "Expired", ...}}
//
// The next watch continues from the resource version of the last event. So it is read from every object, also from that of
// a bookmark and of an event of unknown type.
//
// What it lacks is speed and protobuf: encoding/json looks at each byte of an object four times. The decoder in
// restclient/fast looks once, and reads protobuf too, for resources of which only the metadata is wanted.
type watchDecoder[T Object] struct {
	body   *boundedReader
	events *json.Decoder
	decode func(object []byte) (T, error)
}

// newWatchDecoder returns a decoder of the events in body, none of which may be larger than limit bytes. decode reads an
// object of the watched collection.
func newWatchDecoder[T Object](body io.Reader, limit int, decode func([]byte) (T, error)) *watchDecoder[T] {
	bounded := &boundedReader{r: body, limit: limit, what: "a watch event"}
	return &watchDecoder[T]{body: bounded, events: json.NewDecoder(bounded), decode: decode}
}

var (
	errNoEventType = errors.New("a watch event without a type")
	errNoObject    = errors.New("a watch event without an object")
)

// Next blocks until the next event has arrived, and returns it with its size in bytes.
//
// Where the body ends decides what the end means, and only the decoder knows. Between two events it is io.EOF: the server
// has ended the watch, as it does every few minutes. Inside an event it is io.ErrUnexpectedEOF: the connection broke.
func (d *watchDecoder[T]) Next() (event api.WatchEvent[T], size int, err error) {
	d.body.allow() // bytes for one more event, plus room for the white space before it
	var raw json.RawMessage
	if err := d.events.Decode(&raw); err != nil {
		return event, 0, err
	}
	if len(raw) > d.body.limit { // the reader allows slightly more than limit
		return event, 0, d.body.tooLarge()
	}
	var frame struct {
		Type   api.WatchEventType `json:"type"`
		Object json.RawMessage    `json:"object"` // its type depends on Type
	}
	if err := json.Unmarshal(raw, &frame); err != nil {
		return event, 0, err
	}
	switch {
	case frame.Type == "":
		return event, 0, errNoEventType
	case frame.Object == nil:
		return event, 0, errNoObject
	case isNull(frame.Object):
		return event, 0, errNullObject
	}
	event.Type = frame.Type
	switch frame.Type {
	case api.WatchAdded, api.WatchModified, api.WatchDeleted:
		err = d.decodeObject(&event, frame.Object)
	case api.WatchError:
		err = json.Unmarshal(frame.Object, &event.Status)
	default:
		err = readResourceVersion(&event, frame.Object)
	}
	return event, len(raw), err
}

// decodeObject decodes an object of the collection. For DELETED it is the last state, with the resource version of the deletion.
func (d *watchDecoder[T]) decodeObject(event *api.WatchEvent[T], data []byte) (err error) {
	event.Object, err = d.decode(data)
	if err == nil {
		event.ResourceVersion = event.Object.GetResourceVersion()
	}
	return err
}

// readResourceVersion decodes only the metadata of a bookmark, or of an event of unknown type. The bookmark that ends the initial events of a streaming list (KEP-3157) carries an annotation.
func readResourceVersion[T Object](event *api.WatchEvent[T], data []byte) error {
	var object api.PartialObjectMetadata
	if err := json.Unmarshal(data, &object); err != nil {
		return err
	}
	event.ResourceVersion = object.ResourceVersion
	event.InitialEventsEnd = event.Type == api.WatchBookmark && api.IsInitialEventsEnd(object.Annotations)
	return nil
}
