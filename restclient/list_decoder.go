package restclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"orrery/restclient/api"
)

var errNoBody = errors.New("there is nothing in it")

// listDecoder reads a list from a body as it arrives: each item is decoded and its bytes are forgotten before the next
// one is looked at.
type listDecoder[T Object] struct {
	codec  codec[T]
	reader reader[T] // nil if the codec has none
	stream *stream

	list     api.List[T]
	hasItems bool
	rest     map[string]json.RawMessage // fields of something that may turn out to be a Status
}

// decodeList returns the list that the body holds. If it holds a Status instead that reports success, listed is false;
// one that reports failure is an error.
func decodeList[T Object](body io.Reader, limit int, codec codec[T]) (list *api.List[T], listed bool, err error) {
	d := listDecoder[T]{
		codec:  codec,
		reader: codec.open(),
		stream: newStream(body, limit, "an item of the list"),
		rest:   map[string]json.RawMessage{},
	}
	if _, err := d.stream.peek(); err == io.EOF {
		return nil, false, errNoBody // the answer is complete: the connection did not break
	}
	if err := d.stream.expect('{'); err != nil {
		return nil, false, err
	}
	for first := true; ; first = false {
		key, ok, err := d.stream.key(first)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			break
		}
		if err := d.field(string(key)); err != nil {
			return nil, false, err
		}
	}
	if err := d.stream.finish(); err != nil {
		return nil, false, err
	}
	return d.result()
}

func (d *listDecoder[T]) field(key string) error {
	if key == "items" {
		d.hasItems = true
		return d.items()
	}
	raw, err := d.stream.value()
	if err != nil {
		return err
	}
	switch key {
	case "kind":
		err = json.Unmarshal(raw, &d.list.Kind)
	case "apiVersion":
		err = json.Unmarshal(raw, &d.list.APIVersion)
	case "metadata":
		err = json.Unmarshal(raw, &d.list.ListMeta)
	}
	d.rest[key] = bytes.Clone(raw)
	return err
}

func (d *listDecoder[T]) items() error {
	if c, err := d.stream.peek(); err == nil && c == 'n' { // null: a nil slice, as Go servers write it
		raw, err := d.stream.value()
		if err == nil && string(raw) != "null" {
			err = errors.New("items is neither an array nor null")
		}
		return err
	}
	if err := d.stream.expect('['); err != nil {
		return err
	}
	for first := true; ; first = false {
		ok, err := d.stream.element(first)
		if err != nil || !ok {
			return err
		}
		item, err := nextObject(d.stream, &d.codec, d.reader)
		if err != nil {
			return d.badItem(err)
		}
		d.list.Items = append(d.list.Items, item)
	}
}

// badItem says which item is wrong, unless it is the connection.
func (d *listDecoder[T]) badItem(err error) error {
	if _, ok := errors.AsType[*readError](err); ok {
		return err
	}
	return fmt.Errorf("item %d: %w", len(d.list.Items), err)
}

func (d *listDecoder[T]) result() (*api.List[T], bool, error) {
	if d.list.Kind == "Status" {
		return nil, false, d.status()
	}
	if !d.hasItems && !strings.HasSuffix(d.list.Kind, "List") {
		return nil, false, fmt.Errorf("an object of kind %q where a list should be", d.list.Kind)
	}
	if d.codec.adopt != nil {
		for _, item := range d.list.Items {
			d.codec.adopt(item, d.list.TypeMeta)
		}
	}
	return &d.list, true, nil
}

func (d *listDecoder[T]) status() error {
	document, err := json.Marshal(d.rest)
	if err != nil {
		return err
	}
	var status api.Status
	if err := json.Unmarshal(document, &status); err != nil {
		return err
	}
	if status.Status == api.StatusFailure {
		return &refusedError{api.NewStatusError(status)}
	}
	return nil
}

// adoptUnstructured names the kind of an item from a list of a built-in type: "PodList" holds items of kind "Pod" that
// do not say so themselves.
func adoptUnstructured(item *api.Unstructured, list api.TypeMeta) {
	if item.GetKind() != "" || item.Object == nil {
		return
	}
	if kind, ok := strings.CutSuffix(list.Kind, "List"); ok && kind != "" {
		item.Object["kind"] = kind
		item.Object["apiVersion"] = list.APIVersion
	}
}
