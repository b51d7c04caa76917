package restclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"orrery/restclient/api"
)

// plainDecoder is the textbook decoder, for objects of any type: encoding/json.
type plainDecoder[T Object] struct {
	accept Accept
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
	errNotJSON    = errors.New("protobuf in the answer to a request for JSON")
	errTrailing   = errors.New("there is data after the list")
)

func (d *plainDecoder[T]) Accept() Accept { return d.accept }

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

// requireJSON returns an error if an answer is in protobuf, which the decoders do not read.
func requireJSON(answer *http.Response) error {
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "application/vnd.kubernetes.protobuf") {
		return errNotJSON
	}
	return nil
}

// List decodes a list item by item, so that it never holds the whole body in memory. It reads the
// body to its end, so that the connection can be used again.
func (d *plainDecoder[T]) List(body io.Reader, limit int) (*api.List[T], error) {
	l := listDecoder[T]{
		body:   &boundedReader{r: body, limit: limit, what: "an item of the list"},
		fields: map[string]json.RawMessage{},
	}
	l.json = json.NewDecoder(l.body)
	err := l.document()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	head, ok, err := ListHead(l.fields, l.hasItems)
	if err != nil || !ok {
		return nil, err
	}
	if d.complete != nil {
		for _, item := range l.decoded {
			d.complete(item, head.TypeMeta)
		}
	}
	return &api.List[T]{TypeMeta: head.TypeMeta, ListMeta: head.ListMeta, Items: l.decoded}, nil
}

// listDecoder decodes one list.
type listDecoder[T Object] struct {
	body *boundedReader
	json *json.Decoder

	decoded  []T
	hasItems bool
	fields   map[string]json.RawMessage // those of IsListField
}

func (l *listDecoder[T]) document() error {
	l.body.allow()
	open, err := l.json.Token()
	switch {
	case err == io.EOF:
		return errNoBody // the answer is complete: the connection did not break
	case err != nil:
		return err
	case open != json.Delim('{'):
		return fmt.Errorf("%v where a list should be", open)
	}
	for {
		l.body.allow()
		token, err := l.json.Token()
		if err != nil {
			return err
		}
		name, isField := token.(string)
		if !isField { // the closing bracket
			break
		}
		if err := l.field(name); err != nil {
			return err
		}
	}
	if _, err := l.json.Token(); err != io.EOF {
		return errors.Join(errTrailing, err)
	}
	return nil
}

func (l *listDecoder[T]) field(name string) error {
	if name == "items" {
		l.hasItems = true
		return l.readItems()
	}
	raw, err := l.value()
	if err == nil && IsListField(name) {
		l.fields[name] = raw
	}
	return err
}

func (l *listDecoder[T]) readItems() error {
	open, err := l.json.Token()
	if err != nil || open == nil { // null: a nil slice, as Go servers write it
		return err
	}
	if open != json.Delim('[') {
		return errors.New("items is neither an array nor null")
	}
	for l.json.More() {
		var item T
		raw, err := l.value()
		if err == nil {
			item, err = decodeObject[T](raw)
		}
		if err != nil {
			return fmt.Errorf("item %d: %w", len(l.decoded), err)
		}
		l.decoded = append(l.decoded, item)
	}
	_, err = l.json.Token() // the closing bracket
	return err
}

// value reads the next value, which is valid JSON.
func (l *listDecoder[T]) value() (raw json.RawMessage, err error) {
	l.body.allow()
	if err = l.json.Decode(&raw); err == nil && len(raw) > l.body.limit {
		err = l.body.tooLarge()
	}
	return raw, err
}

// IsListField reports whether a field of a list is part of its head, or of a Status in its place.
// Others are not kept: there may be any number of them.
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
