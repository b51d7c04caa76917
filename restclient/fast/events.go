package fast

import (
	"encoding/binary"
	"errors"
	"io"

	"orrery/restclient/api"
)

// eventDecoder decodes watch events: JSON objects with the fields type and object, or frames of
// protobuf. Each object is decoded once, straight from the buffer.
type eventDecoder struct {
	reader   metadataReader
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

// Next returns the next event and its size in bytes. Its error is io.EOF if the body ends between
// two events, and io.ErrUnexpectedEOF if it ends inside one.
func (d *eventDecoder) Next() (e event, size int, err error) {
	if d.protobuf {
		return d.nextProtobuf()
	}
	if _, err := d.stream.peek(); err != nil {
		return e, 0, err
	}
	size, err = d.stream.one(func(c *cursor) (err error) {
		e, err = d.read(c)
		return err
	})
	return e, size, err
}

// read reads one JSON event. The type, which decides how the object is decoded, may follow it.
func (d *eventDecoder) read(c *cursor) (e event, err error) {
	if err := c.expect('{'); err != nil {
		return e, err
	}
	var object []byte
	for first := true; ; first = false {
		name, ok, err := c.field(first)
		switch {
		case err != nil:
		case !ok:
			return e, d.fill(&e, object)
		case string(name) == "type":
			var text []byte
			text, err = c.text()
			e.Type = api.WatchEventType(d.reader.interned(text))
		case string(name) == "object":
			object, err = c.value()
		default:
			_, err = c.value()
		}
		if err != nil {
			return e, err
		}
	}
}

// carriesObject reports whether an event of that type has an object of the collection.
func carriesObject(kind api.WatchEventType) bool {
	return kind == api.WatchAdded || kind == api.WatchModified || kind == api.WatchDeleted
}

// fill decodes the object according to the type of the event.
func (d *eventDecoder) fill(e *event, raw []byte) error {
	switch {
	case e.Type == "":
		return errNoEventType
	case raw == nil:
		return errNoObject
	case e.Type == api.WatchError && !isNull(raw):
		return api.Unmarshal(raw, &e.Status)
	}
	object, err := d.reader.decode(raw)
	if err == nil {
		take(e, object)
	}
	return err
}

// take sets the object. A bookmark and an event of unknown type have only a resource version.
func take(e *event, object *partial) {
	e.ResourceVersion = object.ResourceVersion
	if carriesObject(e.Type) {
		e.Object = object
	} else {
		e.InitialEventsEnd = e.Type == api.WatchBookmark && api.IsInitialEventsEnd(object.Annotations)
	}
}

// nextProtobuf is Next for protobuf: four bytes with the length, then a message metav1.WatchEvent
// with type and object. The object is in an envelope, the event is not.
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
		return e, 0, d.stream.tooLarge()
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
			e.Type = api.WatchEventType(d.reader.interned(f.value))
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

// readRaw reads a RawExtension, a message whose field 1 holds the bytes of another one.
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
