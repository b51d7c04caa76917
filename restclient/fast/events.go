package fast

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"

	"orrery/restclient"
	"orrery/restclient/api"
)

// eventDecoder reads watch events from a body: JSON objects with the fields type and object, or frames of protobuf. Each
// object is decoded once, straight from the buffer.
type eventDecoder struct {
	reader   headReader
	stream   *stream
	protobuf bool
}

func newEventDecoder(body io.Reader, limit int, protobuf bool) *eventDecoder {
	return &eventDecoder{stream: newStream(body, limit, "a watch event"), protobuf: protobuf}
}

var (
	errNoEventType = errors.New("a watch event without a type")
	errNoObject    = errors.New("a watch event without an object")
)

// Next returns the next event and its size in bytes. Its error is io.EOF if the body ends between two events, and
// io.ErrUnexpectedEOF if it ends inside one.
func (d *eventDecoder) Next() (e event, size int, err error) {
	if d.protobuf {
		return d.nextProtobuf()
	}
	if _, err := d.stream.peek(); err != nil {
		return e, 0, err
	}
	start := d.stream.offset()
	if err := d.stream.expect('{'); err != nil {
		return e, 0, err
	}
	var waiting []byte // the object, when it came before the type
	decoded := false
	for first := true; ; first = false {
		key, ok, err := d.stream.key(first)
		if err != nil {
			return e, 0, err
		}
		if !ok {
			break
		}
		isObject := string(key) == "object"
		if isObject && carriesObject(e.Type) {
			decoded = true
			if e.Object, err = d.reader.next(d.stream); err != nil {
				return e, 0, err
			}
			e.ResourceVersion = e.Object.ResourceVersion
			continue
		}
		isType := string(key) == "type"
		raw, err := d.stream.value()
		switch {
		case err != nil:
		case isType:
			e.Type, err = eventType(raw)
		case isObject && e.Type == "":
			waiting = bytes.Clone(raw)
		case isObject:
			decoded = true
			err = fill(&e, raw)
		}
		if err != nil {
			return e, 0, err
		}
	}
	switch size = int(d.stream.offset() - start); {
	case size > d.stream.limit:
		return e, size, &restclient.TooLargeError{What: d.stream.what, Limit: d.stream.limit}
	case e.Type == "":
		return e, size, errNoEventType
	case !decoded && waiting == nil:
		return e, size, errNoObject
	case !decoded:
		err = fill(&e, waiting)
	}
	return e, size, err
}

// carriesObject reports whether an event of that type has an object of the collection.
func carriesObject(kind api.WatchEventType) bool {
	return kind == api.WatchAdded || kind == api.WatchModified || kind == api.WatchDeleted
}

// fill decodes the object according to the type of the event.
func fill(e *event, raw []byte) error {
	if e.Type == api.WatchError && !isNull(raw) {
		return json.Unmarshal(raw, &e.Status)
	}
	object, err := decodeHead(raw)
	if err == nil {
		take(e, object)
	}
	return err
}

// take sets what the object says. Of a bookmark, and of an event of unknown type, only the resource version counts.
func take(e *event, object *head) {
	e.ResourceVersion = object.ResourceVersion
	if carriesObject(e.Type) {
		e.Object = object
	} else {
		e.InitialEventsEnd = e.Type == api.WatchBookmark && api.IsInitialEventsEnd(object.Annotations)
	}
}

// eventType returns one of the constants where it can, which costs no allocation.
func eventType(raw []byte) (kind api.WatchEventType, err error) {
	if len(raw) >= 2 && raw[0] == '"' {
		if kind, known := eventTypeOf(raw[1 : len(raw)-1]); known {
			return kind, nil
		}
	}
	err = json.Unmarshal(raw, &kind)
	return kind, err
}

func eventTypeOf(text []byte) (kind api.WatchEventType, known bool) {
	switch string(text) {
	case "ADDED":
		return api.WatchAdded, true
	case "MODIFIED":
		return api.WatchModified, true
	case "DELETED":
		return api.WatchDeleted, true
	case "BOOKMARK":
		return api.WatchBookmark, true
	case "ERROR":
		return api.WatchError, true
	}
	return api.WatchEventType(text), false
}

// nextProtobuf is Next for protobuf: four bytes with the length, then a message metav1.WatchEvent with type and object. The
// object is in an envelope, the event is not.
func (d *eventDecoder) nextProtobuf() (e event, size int, err error) {
	if d.stream.pos == d.stream.end {
		if err := d.stream.more(); err != nil {
			return e, 0, err
		}
	}
	prefix, err := d.stream.take(4)
	if err != nil {
		return e, 0, err
	}
	length := binary.BigEndian.Uint32(prefix)
	if uint64(length) > uint64(d.stream.limit) {
		return e, 0, &restclient.TooLargeError{What: d.stream.what, Limit: d.stream.limit}
	}
	frame, err := d.stream.take(int(length))
	if err != nil {
		return e, 0, err
	}
	size = 4 + len(frame)
	var object []byte
	f := fields{rest: frame}
	for f.next() {
		switch f.number {
		case 1:
			e.Type, _ = eventTypeOf(f.value)
		case 2:
			if object, err = readRaw(f.value); err != nil {
				return e, size, err
			}
		}
	}
	switch {
	case f.err != nil:
		return e, size, f.err
	case e.Type == "":
		return e, size, errNoEventType
	case object == nil:
		return e, size, errNoObject
	}
	return e, size, d.fillProtobuf(&e, object)
}

// readRaw reads a RawExtension, a message whose field 1 is the bytes of something else.
func readRaw(message []byte) (raw []byte, err error) {
	f := fields{rest: message}
	for f.next() {
		if f.number == 1 {
			raw = f.value
		}
	}
	return raw, f.err
}

// fillProtobuf decodes the object according to the type of the event.
func (d *eventDecoder) fillProtobuf(e *event, envelope []byte) error {
	kind, message, err := openEnvelope(envelope)
	if err != nil {
		return err
	}
	if e.Type == api.WatchError {
		status, err := readStatus(kind, message)
		e.Status = &status
		return err
	}
	object, err := d.reader.readProtobuf(kind, message)
	if err == nil {
		take(e, object)
	}
	return err
}
