package restclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"orrery/restclient/api"
)

// plainDecoder is the textbook decoder, for objects of any type: encoding/json.
type plainDecoder[T Object] struct {
	// complete, if not nil, is called for each decoded object with the kind of its list, if any.
	complete func(object T, list api.TypeMeta)
}

// dropManagedFields drops what only writing back needs, see [Metadata].
func dropManagedFields(head *api.PartialObjectMetadata, _ api.TypeMeta) {
	head.ManagedFields = api.ManagedFields{}
}

// nameKind sets the kind of an item from a list of a built-in type: items of a "PodList" are of
// kind "Pod" and do not contain their kind.
func nameKind(item *api.Unstructured, list api.TypeMeta) {
	kind, ok := strings.CutSuffix(list.Kind, "List")
	if ok && kind != "" && item.GetKind() == "" && item.Object != nil {
		item.Object["kind"] = kind
		item.Object["apiVersion"] = list.APIVersion
	}
}

var (
	errNullObject = errors.New("null where an object should be")
	errNoBody     = errors.New("the body is empty")
	errTrailing   = errors.New("there is data after the list")
)

func (d *plainDecoder[T]) Events(body io.Reader, limit int) EventDecoder[T] {
	return newWatchDecoder(body, limit, d.Object)
}

func (d *plainDecoder[T]) Object(data []byte) (T, error) {
	object, err := decodeObject[T](data)
	if err == nil && d.complete != nil {
		d.complete(object, api.TypeMeta{})
	}
	return object, err
}

func decodeObject[T any](data []byte) (object T, err error) {
	if isNull(data) {
		return object, errNullObject
	}
	err = api.Unmarshal(data, &object)
	return object, err
}

func isNull(data []byte) bool { return string(bytes.TrimSpace(data)) == "null" }

// List decodes a list when it is complete.
func (d *plainDecoder[T]) List(body io.Reader, limit int) (*api.List[T], error) {
	var fields map[string]json.RawMessage // which keeps the case of names
	document := json.NewDecoder(body)
	switch err := document.Decode(&fields); {
	case err == io.EOF:
		return nil, errNoBody // the answer is complete: the connection did not break
	case err != nil:
		return nil, err
	}
	if _, err := document.Token(); err != io.EOF {
		return nil, errors.Join(errTrailing, err)
	}
	array, hasItems := fields["items"]
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return !IsListField(name) })
	head, ok, err := ListHead(fields, hasItems)
	if err != nil || !ok {
		return nil, err
	}
	var items []json.RawMessage // nil for null, as Go servers write a nil slice
	if hasItems && json.Unmarshal(array, &items) != nil {
		return nil, errors.New("items is neither an array nor null")
	}
	list := &api.List[T]{TypeMeta: head.TypeMeta, ListMeta: head.ListMeta}
	for i, raw := range items {
		if len(raw) > limit {
			return nil, &TooLargeError{What: "an item of the list", Limit: limit}
		}
		item, err := decodeObject[T](raw)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
		if d.complete != nil {
			d.complete(item, head.TypeMeta)
		}
		list.Items = append(list.Items, item)
	}
	return list, nil
}

// IsListField reports whether a field of a list is part of its head, or of a Status in its place.
func IsListField(name string) bool {
	switch name {
	case "kind", "apiVersion", "metadata", "status", "message", "reason", "details", "code":
		return true
	}
	return false
}

// ListHead reads the head of a list from its fields, see [IsListField], for a [Codec] that reads
// the items one by one. If the fields are those of a Status, the error is an [*api.StatusError] if
// it reports failure, and ok is false if it reports success.
func ListHead(fields map[string]json.RawMessage, hasItems bool) (head api.List[json.RawMessage], ok bool, err error) {
	document, err := json.Marshal(fields)
	if err == nil {
		err = api.Unmarshal(document, &head)
	}
	switch {
	case err != nil:
		return head, false, err
	case head.Kind == "Status":
		var status api.Status
		if err = api.Unmarshal(document, &status); err == nil && status.Status == api.StatusFailure {
			err = api.NewStatusError(status)
		}
		return head, false, err
	case !hasItems && !strings.HasSuffix(head.Kind, "List"):
		return head, false, fmt.Errorf("expected a list, got an object of kind %q", head.Kind)
	}
	return head, true, nil
}

// Object is an object of a Resource: any type with the metadata of a Kubernetes object.
type Object interface {
	GetNamespace() string
	GetName() string
	GetResourceVersion() string
}

// Decoder decodes the answers of a [Resource] with objects of type T. It is safe for concurrent
// use. limit is the greatest size in bytes of one event or one item; a larger one is a
// [*TooLargeError]. A body that ends inside a value is io.ErrUnexpectedEOF. Errors of reading from
// body are returned as they are, or wrapped.
type Decoder[T Object] interface {
	// Object decodes a body that is one object. The result does not refer to body.
	Object(body []byte) (T, error)
	// List decodes a list. A Status in its place is an [*api.StatusError] if it
	// reports failure, and a nil list if it reports success.
	List(body io.Reader, limit int) (*api.List[T], error)
	// Events returns a decoder of the events of a watch.
	Events(body io.Reader, limit int) EventDecoder[T]
}

// EventDecoder decodes the events of one watch. It is for one goroutine.
type EventDecoder[T Object] interface {
	// Next returns the next event and its size in bytes. Its error is io.EOF if the body ends
	// between two events.
	Next() (event api.WatchEvent[T], size int, err error)
}

// Codec is a [Decoder] for Metadata resources, see Config.Codec: [PlainCodec], or fast.Codec of
// package restclient/fast.
type Codec = Decoder[*api.PartialObjectMetadata]

// PlainCodec returns the textbook codec, which uses encoding/json like the decoder of every other
// resource.
func PlainCodec() Codec {
	return &plainDecoder[*api.PartialObjectMetadata]{complete: dropManagedFields}
}
