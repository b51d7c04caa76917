package fast

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"orrery/restclient"
	"orrery/restclient/api"
)

type (
	partial = api.PartialObjectMetadata
	event   = api.WatchEvent[*partial]
)

// Codec is a restclient.Codec: it decodes the answers of Metadata resources in one pass. The zero
// value is ready to use.
type Codec struct{}

var _ restclient.Codec = Codec{}

// Object decodes the metadata of one object.
func (Codec) Object(body []byte) (*partial, error) {
	return new(metadataReader).decode(body)
}

// List decodes a list item by item while it arrives.
func (Codec) List(body io.Reader, limit int) (*api.List[*partial], error) {
	d := listDecoder{stream: newStream(body, limit, "an item of the list")}
	return d.decode()
}

// Events returns a decoder of the events of a watch.
func (Codec) Events(body io.Reader, limit int) restclient.EventDecoder[*partial] {
	return newEventDecoder(body, limit)
}

var errNoBody = errors.New("the body is empty")

// listDecoder decodes a list as it arrives: each item is decoded, and its bytes are dropped before
// the next.
type listDecoder struct {
	reader metadataReader
	stream *stream

	list     api.List[*partial]
	hasItems bool
	fields   map[string]json.RawMessage // those of restclient.IsListField, in JSON
}

// decode returns the list. A Status instead is nil if it reports success and an error otherwise.
func (d *listDecoder) decode() (*api.List[*partial], error) {
	d.fields = map[string]json.RawMessage{}
	if _, err := d.stream.peek(); err == io.EOF {
		return nil, errNoBody // the answer is complete: the connection did not break
	}
	if err := d.stream.parse(func(c *cursor) error { return c.expect('{') }); err != nil {
		return nil, err
	}
	for first := true; ; first = false {
		var name string
		more := false
		err := d.stream.parse(func(c *cursor) error {
			raw, ok, err := c.field(first)
			name, more = string(raw), ok
			return err
		})
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if err := d.field(name); err != nil {
			return nil, err
		}
	}
	if err := d.stream.finish(); err != nil {
		return nil, err
	}
	return d.result()
}

func (d *listDecoder) field(key string) error {
	if key == "items" {
		d.hasItems = true
		return d.items()
	}
	raw, err := d.stream.value()
	if err != nil {
		return err
	}
	if restclient.IsListField(key) {
		d.fields[key] = bytes.Clone(raw)
	}
	return nil
}

func (d *listDecoder) items() error {
	if c, err := d.stream.peek(); err == nil && c == 'n' { // null: a nil slice, as Go servers write it
		raw, err := d.stream.value()
		if err == nil && string(raw) != "null" {
			err = errors.New("items is neither an array nor null")
		}
		return err
	}
	if err := d.stream.parse(func(c *cursor) error { return c.expect('[') }); err != nil {
		return err
	}
	for first := true; ; first = false {
		done := false
		err := d.stream.parse(func(c *cursor) (err error) {
			done, err = c.separator(']', first)
			return err
		})
		if err != nil || done {
			return err
		}
		item, err := d.reader.next(d.stream)
		if err != nil {
			return fmt.Errorf("item %d: %w", len(d.list.Items), err)
		}
		d.list.Items = append(d.list.Items, item)
	}
}

func (d *listDecoder) result() (*api.List[*partial], error) {
	head, ok, err := restclient.ListHead(d.fields, d.hasItems)
	if err != nil || !ok {
		return nil, err
	}
	d.list.TypeMeta, d.list.ListMeta = head.TypeMeta, head.ListMeta
	return &d.list, nil
}

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
			e.Type = api.WatchEventType(d.reader.parts.intern(text).text)
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
	switch e.Type {
	case api.WatchAdded, api.WatchModified, api.WatchDeleted:
		e.Object = object
	case api.WatchBookmark:
		e.InitialEventsEnd = api.IsInitialEventsEnd(object.Annotations)
	}
	return nil
}
