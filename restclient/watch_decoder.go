package restclient

import (
	"encoding/json"
	"errors"
	"io"

	"orrery/restclient/api"
)

// watchDecoder is the textbook decoder of a watch: it reads events with encoding/json. The body is
// the same over HTTP and over a websocket: a sequence of JSON objects, one for each event, until
// the server ends it
//
//	{"type": "ADDED",    "object": {"kind": "Pod", "metadata": {"resourceVersion": "10596", ...}, ...}}
//	{"type": "MODIFIED", "object": {"kind": "Pod", "metadata": {"resourceVersion": "11020", ...}, ...}}
//	{"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {"resourceVersion": "12746"}}}
//	{"type": "ERROR",    "object": {"kind": "Status", "code": 410, "reason": "Expired", ...}}
//
// The next watch continues from the resource version of the last event. So it is read from every
// object, including bookmarks and events of unknown type.
//
// Field names are case-sensitive: api.Unmarshal decodes events and what is in them. encoding/json
// alone takes "Type" for type, and "Metadata" for metadata.
//
// What it lacks is speed: encoding/json scans each object four times. The decoder in package
// restclient/fast looks for its end and decodes it in one pass, for resources of which only the
// metadata is used.
type watchDecoder[T Object] struct {
	body   *boundedReader                 // limits the size of an event
	events *json.Decoder                  // reads body; keeps what it has read beyond the last event
	decode func(object []byte) (T, error) // decodes an object of the collection
}

// newWatchDecoder returns a new decoder of the events in body, each of at most limit bytes. decode
// decodes an object of the watched collection.
func newWatchDecoder[T Object](body io.Reader, limit int, decode func([]byte) (T, error)) *watchDecoder[T] {
	bounded := &boundedReader{r: body, limit: limit, what: "a watch event"}
	return &watchDecoder[T]{body: bounded, events: json.NewDecoder(bounded), decode: decode}
}

var (
	errNoEventType = errors.New("a watch event without a type")
	errNoObject    = errors.New("a watch event without an object")
)

// Next blocks until the next event has arrived, and returns it with its size in bytes, which is the
// length of its JSON without the white space around it. It returns as soon as the event is
// complete.
//
// The fields of an event are type and object, in any order; others are ignored. The type decides
// what is decoded, and with what:
//   - ADDED, MODIFIED, DELETED: the object, with decodeObject;
//   - ERROR: the Status, with decodeError;
//   - BOOKMARK and every unknown type: only the resource version, with readResourceVersion.
//
// The position of the end decides its meaning. Between two events it is io.EOF: the server has
// ended the watch, as it does every few minutes. Inside an event it is io.ErrUnexpectedEOF: the
// connection broke. json.Decoder distinguishes the two; its errors, which include those of the
// body, are returned as they are.
//
// The other errors are those of an event that cannot be decoded:
//   - errNoEventType: it has no type, or an empty one;
//   - errNoObject, errNullObject: it has no object, or null in its place;
//   - d.body.tooLarge(): it is larger than d.body.limit. Because d.body lets the decoder read only
//     what allow grants, allow must be called before each event;
//   - those of decoding the object.
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
	if err := api.Unmarshal(raw, &frame); err != nil {
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
		err = d.decodeError(&event, frame.Object)
	default:
		err = readResourceVersion(&event, frame.Object)
	}
	return event, len(raw), err
}

// decodeObject decodes data, an object of the collection, into event.Object with d.decode, and sets
// event.ResourceVersion to the object's. For DELETED the object is the last state, with the
// resource version of the deletion.
func (d *watchDecoder[T]) decodeObject(event *api.WatchEvent[T], data []byte) (err error) {
	event.Object, err = d.decode(data)
	if err == nil {
		event.ResourceVersion = event.Object.GetResourceVersion()
	}
	return err
}

// decodeError decodes data, the reason for which the server ends the watch, into event.Status. The
// event has neither an object nor a resource version. It is data and no error of the decoder: the
// caller decides by its code and reason what follows, for instance a new list after 410.
func (d *watchDecoder[T]) decodeError(event *api.WatchEvent[T], data []byte) error {
	return api.Unmarshal(data, &event.Status)
}

// readResourceVersion decodes only the metadata of a bookmark, or of an event of unknown type. The
// bookmark that ends the initial events of a streaming list (KEP-3157) has an annotation.
func readResourceVersion[T Object](event *api.WatchEvent[T], data []byte) error {
	var object api.PartialObjectMetadata
	if err := api.Unmarshal(data, &object); err != nil {
		return err
	}
	event.ResourceVersion = object.ResourceVersion
	event.InitialEventsEnd = event.Type == api.WatchBookmark && api.IsInitialEventsEnd(object.Annotations)
	return nil
}
