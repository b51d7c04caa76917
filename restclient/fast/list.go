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
			return d.badItem(err)
		}
		d.list.Items = append(d.list.Items, item)
	}
}

func (d *listDecoder) badItem(err error) error {
	return fmt.Errorf("item %d: %w", len(d.list.Items), err)
}

func (d *listDecoder) result() (*api.List[*partial], error) {
	head, ok, err := restclient.ListHead(d.fields, d.hasItems)
	if err != nil || !ok {
		return nil, err
	}
	d.list.TypeMeta, d.list.ListMeta = head.TypeMeta, head.ListMeta
	return &d.list, nil
}
