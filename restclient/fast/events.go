package fast

import (
	"errors"
	"io"

	"orrery/restclient/api"
)

// eventDecoder decodes watch events: JSON objects with the fields type and object. Each object is
// decoded once, straight from the buffer.
type eventDecoder struct {
	reader metadataReader
	stream *stream
}

func newEventDecoder(body io.Reader, limit int) *eventDecoder {
	return &eventDecoder{stream: newStream(body, limit, "a watch event")}
}

var (
	errNoEventType = errors.New("a watch event without a type")
	errNoObject    = errors.New("a watch event without an object")
)

// Next returns the next event and its size in bytes. Its error is io.EOF if the body ends between
// two events, and io.ErrUnexpectedEOF if it ends inside one.
func (d *eventDecoder) Next() (e event, size int, err error) {
	if _, err := d.stream.peek(); err != nil {
		return e, 0, err
	}
	size, err = d.stream.one(func(c *cursor) (err error) {
		e, err = d.read(c)
		return err
	})
	return e, size, err
}

// read reads one event. The type, which decides how the object is decoded, may follow it.
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

// fill decodes the object according to the type of the event. A bookmark and an event of unknown
// type have only a resource version.
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
	if err != nil {
		return err
	}
	e.ResourceVersion = object.ResourceVersion
	if carriesObject(e.Type) {
		e.Object = object
	} else {
		e.InitialEventsEnd = e.Type == api.WatchBookmark && api.IsInitialEventsEnd(object.Annotations)
	}
	return nil
}
