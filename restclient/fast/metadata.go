package fast

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"

	"orrery/restclient/api"
)

// metadataReader decodes the metadata of objects in one pass each: it extracts the wanted fields
// and skips the others without parsing them (see boundary). Unlike encoding/json it accepts field
// names only as Kubernetes spells them. It is for one goroutine.
type metadataReader struct {
	parts   sharedParts
	text    textBuffer
	at      cursor
	current *partial // the object being read
}

// decode decodes the metadata of a single object, all of data.
func (r *metadataReader) decode(data []byte) (*partial, error) {
	if isNull(data) {
		return nil, errNullObject
	}
	object, n, err := r.readJSON(data)
	if err == errShort {
		err = midway(io.EOF)
	}
	if err != nil {
		return nil, err
	}
	if rest := bytes.TrimLeft(data[n:], " \n\r\t"); len(rest) > 0 {
		return nil, &syntaxError{want: "the end", got: rest[0], offset: int64(len(data) - len(rest))}
	}
	return object, nil
}

var errNullObject = errors.New("null where an object should be")

func isNull(data []byte) bool { return string(bytes.TrimSpace(data)) == "null" }

// next reads the next object of the stream.
func (r *metadataReader) next(s *stream) (object *partial, err error) {
	_, err = s.one(func(c *cursor) (err error) {
		object, c.pos, err = r.readJSON(c.data)
		return err
	})
	return object, err
}

// readJSON decodes the object at the start of data and returns its length. If data ends too early
// the error is errShort.
func (r *metadataReader) readJSON(data []byte) (object *partial, n int, err error) {
	r.at = cursor{data: data}
	if null, _ := r.at.null(); null {
		return nil, 0, errNullObject
	}
	r.text.reset()
	object = &api.PartialObjectMetadata{}
	r.current = object
	if err := r.object(); err != nil {
		return nil, 0, err
	}
	r.text.finish()
	r.current = nil
	return object, r.at.pos, nil
}

func (r *metadataReader) object() error {
	if err := r.at.expect('{'); err != nil {
		return err
	}
	for first := true; ; first = false {
		name, ok, err := r.at.field(first)
		if err != nil || !ok {
			return err
		}
		switch string(name) {
		case "kind":
			err = r.internedField(&r.current.Kind)
		case "apiVersion":
			err = r.internedField(&r.current.APIVersion)
		case "metadata":
			err = r.metadata()
		default:
			_, err = r.at.value()
		}
		if err != nil {
			return err
		}
	}
}

func (r *metadataReader) metadata() error {
	if null, err := r.at.null(); null || err != nil {
		return err
	}
	if err := r.at.expect('{'); err != nil {
		return err
	}
	for first := true; ; first = false {
		name, ok, err := r.at.field(first)
		if err == nil && ok {
			err = r.metadataField(name)
		}
		if err != nil || !ok {
			return err
		}
	}
}

func (r *metadataReader) metadataField(name []byte) error {
	meta := &r.current.ObjectMeta
	switch string(name) {
	case "name":
		return r.ownField(&meta.Name)
	case "generateName":
		return r.ownField(&meta.GenerateName)
	case "namespace":
		return r.internedField(&meta.Namespace)
	case "uid":
		return r.ownField(&meta.UID)
	case "resourceVersion":
		return r.ownField(&meta.ResourceVersion)
	case "labels":
		return r.mapField(&meta.Labels, &r.parts.labels)
	case "annotations":
		return r.mapField(&meta.Annotations, &r.parts.annotations)
	case "generation":
		return r.numberField(&meta.Generation)
	case "creationTimestamp":
		return r.timeField(&meta.CreationTimestamp)
	case "deletionTimestamp":
		return r.jsonField(&meta.DeletionTimestamp)
	case "deletionGracePeriodSeconds":
		return r.jsonField(&meta.DeletionGracePeriodSeconds)
	case "ownerReferences":
		return r.ownersField()
	case "finalizers":
		return r.jsonField(&meta.Finalizers)
	}
	_, err := r.at.value()
	return err
}

// jsonField decodes a rare or small field with encoding/json.
func (r *metadataReader) jsonField(into any) error {
	raw, err := r.at.value()
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// textValue consumes a string, or null as "", and returns its text. The bytes are valid until the
// next call.
func (r *metadataReader) textValue() ([]byte, error) {
	switch b, err := r.at.next(); {
	case err != nil:
		return nil, err
	case b == '"':
		return r.at.text()
	}
	var text string
	err := r.jsonField(&text)
	return []byte(text), err
}

// ownField reads a text that is probably unique to the object.
func (r *metadataReader) ownField(into *string) error {
	text, err := r.textValue()
	if err == nil {
		r.text.add(into, text)
	}
	return err
}

// internedField reads a text that many objects share.
func (r *metadataReader) internedField(into *string) error {
	text, err := r.textValue()
	if err == nil {
		*into = r.parts.intern(text).text
	}
	return err
}

func (r *metadataReader) numberField(into *int64) error {
	raw, err := r.at.value()
	if err != nil {
		return err
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil && raw[0] != '+' {
		*into = n
		return nil
	}
	return json.Unmarshal(raw, into)
}

// timeField reads a time in one step; encoding/json needs three.
func (r *metadataReader) timeField(into *api.Time) error {
	text, err := r.textValue()
	if err != nil || len(text) == 0 {
		return err
	}
	var moment time.Time
	if moment.UnmarshalText(text) != nil {
		moment, err = time.Parse(time.RFC3339, string(text)) // less strict, with a better error
	}
	*into = api.NewTime(moment)
	return err
}

// mapField reads labels or annotations. Equal bytes yield the same map.
func (r *metadataReader) mapField(into *map[string]string, memory *recent[map[string]string]) error {
	if null, err := r.at.null(); null || err != nil {
		return err
	}
	start := r.at.pos
	if known, n := memory.find(r.at.data[start:]); n > 0 {
		*into = known
		r.at.pos += n
		return nil
	}
	if err := r.at.expect('{'); err != nil {
		return err
	}
	from := len(r.text.pairs)
	for first := true; ; first = false {
		name, ok, err := r.at.field(first)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		key := r.parts.intern(name)
		value, err := r.textValue()
		if err != nil {
			return err
		}
		r.text.addPair(key, value)
	}
	r.text.maps = append(r.text.maps, textMap{into, from, len(r.text.pairs), memory, r.at.data[start:r.at.pos]})
	return nil
}

func (r *metadataReader) ownersField() error {
	if _, err := r.at.next(); err != nil {
		return err
	}
	if known, n := r.parts.owners.find(r.at.data[r.at.pos:]); n > 0 {
		r.current.OwnerReferences = known
		r.at.pos += n
		return nil
	}
	raw, err := r.at.value()
	if err != nil {
		return err
	}
	err = api.Unmarshal(raw, &r.current.OwnerReferences)
	if err == nil && raw[0] == '[' {
		r.parts.owners.put(raw, r.current.OwnerReferences)
	}
	return err
}
