package restclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"orrery/restclient/api"
)

// eventDecoder reads watch events from a body, whichever way the body travels: one JSON object with the fields type and
// object after the other, or one frame of protobuf (see nextProtobuf). Each object is decoded once.
type eventDecoder[T Object] struct {
	codec    codec[T]
	reader   reader[T] // nil if the codec has none
	stream   *stream
	protobuf bool
}

func newEventDecoder[T Object](body io.Reader, limit int, codec codec[T]) *eventDecoder[T] {
	return &eventDecoder[T]{codec: codec, reader: codec.open(), stream: newStream(body, limit, "a watch event")}
}

var (
	errNoEventType = errors.New("a watch event without a type")
	errNoObject    = errors.New("a watch event without an object")
)

// next returns the next event and its size in bytes. io.EOF says that the body ended between two events, a *readError
// with io.ErrUnexpectedEOF that it ended inside one.
func (d *eventDecoder[T]) next() (event api.WatchEvent[T], size int, err error) {
	if d.protobuf {
		return d.nextProtobuf()
	}
	if _, err := d.stream.peek(); err != nil {
		return event, 0, err
	}
	start := d.stream.offset()
	if err := d.stream.expect('{'); err != nil {
		return event, 0, err
	}
	var waiting []byte // the object, when it came before the type
	decoded := false
	for first := true; ; first = false {
		key, ok, err := d.stream.key(first)
		if err != nil {
			return event, 0, err
		}
		if !ok {
			break
		}
		field := fieldOf(key)
		if field == objectField && carriesObject(event.Type) {
			decoded = true
			if event.Object, err = nextObject(d.stream, &d.codec, d.reader); err != nil {
				return event, 0, err
			}
			event.ResourceVersion = event.Object.GetResourceVersion()
			continue
		}
		raw, err := d.stream.value()
		switch {
		case err != nil:
			return event, 0, err
		case field == typeField:
			if event.Type, err = eventType(raw); err != nil {
				return event, 0, err
			}
		case field == objectField && event.Type == "":
			waiting = bytes.Clone(raw)
		case field == objectField:
			decoded = true
			if err := d.fill(&event, raw); err != nil {
				return event, 0, err
			}
		}
	}
	switch size = int(d.stream.offset() - start); {
	case event.Type == "":
		return event, size, errNoEventType
	case !decoded && waiting == nil:
		return event, size, errNoObject
	case !decoded:
		err = d.fill(&event, waiting)
	}
	return event, size, err
}

type eventField int

const (
	otherField eventField = iota
	typeField
	objectField
)

func fieldOf(key []byte) eventField {
	switch string(key) {
	case "type":
		return typeField
	case "object":
		return objectField
	}
	return otherField
}

// carriesObject tells whether an event of that type reports an object.
func carriesObject(kind api.WatchEventType) bool {
	return kind == api.WatchAdded || kind == api.WatchModified || kind == api.WatchDeleted
}

// fill decodes the object according to the type of the event.
func (d *eventDecoder[T]) fill(event *api.WatchEvent[T], raw []byte) error {
	switch {
	case carriesObject(event.Type):
		object, err := d.codec.decode(raw)
		if err != nil {
			return err
		}
		event.Object, event.ResourceVersion = object, object.GetResourceVersion()
	case event.Type == api.WatchError:
		event.Status = new(api.Status)
		return json.Unmarshal(raw, event.Status)
	default: // a bookmark, or a type of which nothing is known but that its object has a version like any other
		head, err := decodeHead(raw)
		if err != nil {
			return err
		}
		event.ResourceVersion = head.ResourceVersion
		event.InitialEventsEnd = event.Type == api.WatchBookmark && api.IsInitialEventsEnd(head.Annotations)
	}
	return nil
}

// eventType returns one of the constants where it can, which costs no allocation.
func eventType(raw []byte) (api.WatchEventType, error) {
	if len(raw) >= 2 && raw[0] == '"' {
		if kind := eventTypeOf(raw[1 : len(raw)-1]); knownEvents[kind] {
			return kind, nil
		}
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return api.WatchEventType(text), err
}

var knownEvents = map[api.WatchEventType]bool{
	api.WatchAdded: true, api.WatchModified: true, api.WatchDeleted: true, api.WatchBookmark: true, api.WatchError: true,
}

func eventTypeOf(text []byte) api.WatchEventType {
	switch string(text) {
	case "ADDED":
		return api.WatchAdded
	case "MODIFIED":
		return api.WatchModified
	case "DELETED":
		return api.WatchDeleted
	case "BOOKMARK":
		return api.WatchBookmark
	case "ERROR":
		return api.WatchError
	}
	return api.WatchEventType(text)
}
