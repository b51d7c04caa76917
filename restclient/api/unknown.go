package api

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"sync"
)

// schema is the shape of a type: an object has fields, by JSON name, and a list of objects has
// items. A nil schema is that of any other value.
type schema struct {
	fields map[string]*schema
	items  *schema
}

func schemaOf(t reflect.Type) *schema {
	switch {
	case reflect.PointerTo(t).Implements(unmarshaler): // it keeps what it needs
		return nil
	case t.Kind() == reflect.Slice:
		if items := schemaOf(t.Elem()); items != nil {
			return &schema{items: items}
		}
		return nil
	case t.Kind() != reflect.Struct:
		return nil
	}
	s := &schema{fields: map[string]*schema{}}
	for name, field := range fieldsOf(t) {
		s.fields[name] = schemaOf(field)
	}
	return s
}

// schemas has the schema of each type that was decoded, by [reflect.Type].
var schemas sync.Map

// decodeKeeping decodes a document into a type without methods, and keeps the unknown fields. After
// an error both are as before.
func decodeKeeping[P any](data []byte, into *P, unknown **unknownFields) error {
	t := reflect.TypeFor[P]()
	known, ok := schemas.Load(t)
	if !ok {
		known, _ = schemas.LoadOrStore(t, schemaOf(t))
	}
	var decoded P
	kept, err := known.(*schema).decode(data, &decoded)
	if err == nil {
		*into = decoded
		*unknown = kept
	}
	return err
}

// decode decodes a document into a struct, and returns the unknown fields.
func (s *schema) decode(data []byte, into any) (*unknownFields, error) {
	if err := Unmarshal(data, into); err != nil {
		return nil, err
	}
	return s.unknownIn(data), nil
}

// unknownIn returns the unknown fields of a document of this shape.
func (s *schema) unknownIn(data []byte) *unknownFields {
	switch {
	case s == nil:
		return nil
	case s.items != nil:
		return s.unknownInItems(data)
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(data, &fields) // it cannot fail: the data has been decoded into the type
	var unknown *unknownFields
	for name, value := range fields {
		if field, known := s.fields[name]; known {
			unknown = unknown.with(name, field.unknownIn(value))
			delete(fields, name)
		}
	}
	if len(fields) > 0 {
		if unknown == nil {
			unknown = &unknownFields{}
		}
		unknown.fields = fields
	}
	return unknown
}

func (s *schema) unknownInItems(data []byte) *unknownFields {
	var items []json.RawMessage
	_ = json.Unmarshal(data, &items) // as above
	var unknown *unknownFields
	for _, item := range items {
		unknown = unknown.with(identity(item), s.items.unknownIn(item))
	}
	return unknown
}

// identity returns what distinguishes an item in its list: the uid of an owner, or the type of a
// condition.
func identity(item []byte) string {
	var names struct {
		UID  string `json:"uid"`
		Type string `json:"type"`
	}
	_ = Unmarshal(item, &names) // as above
	return cmp.Or(names.UID, names.Type)
}

// unknownFields are the fields of a document that this package's types do not declare. An object
// that is read, changed and written must not lose them. Nil means none, which leaves objects
// comparable. They never change after decoding, so copies may share them.
type unknownFields struct {
	fields map[string]json.RawMessage
	below  map[string]*unknownFields // by the name of a field, or the identity of an item
}

// with returns u with the unknown fields below a name.
func (u *unknownFields) with(name string, below *unknownFields) *unknownFields {
	if below == nil {
		return u
	}
	if u == nil {
		u = &unknownFields{}
	}
	if u.below == nil {
		u.below = map[string]*unknownFields{}
	}
	u.below[name] = below
	return u
}

// encode encodes a struct with its unknown fields.
func (u *unknownFields) encode(object any) ([]byte, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return u.addTo(data)
}

// addTo returns the document with the unknown fields. Those of a removed field or item are dropped.
func (u *unknownFields) addTo(data []byte) (_ []byte, err error) {
	if u == nil {
		return data, nil
	}
	if data[0] == '[' {
		return u.addToItems(data)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	for name, value := range fields {
		if fields[name], err = u.below[name].addTo(value); err != nil {
			return nil, err
		}
	}
	maps.Copy(fields, u.fields)
	return json.Marshal(fields)
}

func (u *unknownFields) addToItems(data []byte) (_ []byte, err error) {
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return nil, err
	}
	for i, item := range items {
		if items[i], err = u.below[identity(item)].addTo(item); err != nil {
			return nil, err
		}
	}
	return json.Marshal(items)
}
