package api

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// Unmarshal decodes JSON like encoding/json, but field names are case-sensitive, as Kubernetes has
// them. encoding/json takes "Metadata" for the field metadata: a document that has both would have
// its finalizers overwritten by a field that the server does not know.
func Unmarshal(data []byte, into any) error {
	_, err := decode(data, into, false)
	return err
}

// decodeKeeping decodes a document into a type without methods, and keeps the unknown fields. After
// an error both are as before.
func decodeKeeping[P any](data []byte, into *P, unknown **unknownFields) error {
	var decoded P
	kept, err := decode(data, &decoded, true)
	if err == nil {
		*into = decoded
		*unknown = kept
	}
	return err
}

// decode returns the unknown fields of the document if keep is true.
func decode(data []byte, into any, keep bool) (*unknownFields, error) {
	if !json.Valid(data) {
		return nil, json.Unmarshal(data, into) // for its error
	}
	exact, unknown := split(data, reflect.TypeOf(into), keep)
	if exact != nil {
		data = exact
	}
	return unknown, json.Unmarshal(data, into)
}

// split returns a valid document without the names that differ from the name of a field of t only
// by case, or nil if it has none. If keep is true it also returns the fields that t does not have.
func split(data json.RawMessage, t reflect.Type, keep bool) (exact json.RawMessage, unknown *unknownFields) {
	switch t = decodedType(t); {
	case t == nil:
		return nil, nil
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return splitItems(data, t.Elem(), keep)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return nil, nil // it has another type, which encoding/json reports
	}
	changed := false
	for name, value := range fields {
		field, known := fieldOf(t, name)
		switch {
		case known:
			part, below := split(value, field, keep)
			unknown = unknown.with(name, below)
			if part != nil {
				fields[name], changed = part, true
			}
			continue
		case keep:
			unknown = unknown.with(name, &unknownFields{value: value})
		}
		for other := range fieldsOf(t) {
			if strings.EqualFold(name, other) {
				delete(fields, name)
				changed = true
			}
		}
	}
	if changed {
		exact, _ = json.Marshal(fields) // it cannot fail: the values are valid
	}
	return exact, unknown
}

// splitItems is split for a list. Unknown fields follow the identity of their item.
func splitItems(data json.RawMessage, t reflect.Type, keep bool) (exact json.RawMessage, unknown *unknownFields) {
	var items []json.RawMessage
	if json.Unmarshal(data, &items) != nil {
		return nil, nil
	}
	changed := false
	for i, item := range items {
		part, below := split(item, t, keep)
		if part != nil {
			items[i], changed = part, true
		}
		if below != nil {
			unknown = unknown.with(identity(item), below)
		}
	}
	if changed {
		exact, _ = json.Marshal(items)
	}
	return exact, unknown
}

// fieldOf returns the type of a field of a struct, or of the values of a map, which has every name.
func fieldOf(t reflect.Type, name string) (field reflect.Type, known bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	field, known = fieldsOf(t)[name]
	return field, known
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// decodedType returns the type behind pointers. It returns nil for one without fields at any level,
// and for one that decodes itself or may be anything.
func decodedType(t reflect.Type) reflect.Type {
	switch {
	case t == nil:
		return nil
	case t.Implements(unmarshaler), reflect.PointerTo(t).Implements(unmarshaler):
		return nil
	case t.Kind() == reflect.Pointer:
		return decodedType(t.Elem())
	case t.Kind() == reflect.Struct:
		return t
	case t.Kind() == reflect.Map, t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		switch t.Elem().Kind() {
		case reflect.Struct, reflect.Pointer, reflect.Map, reflect.Slice, reflect.Array:
			return t
		}
	}
	return nil
}

var knownFields sync.Map // the fields of each struct, by reflect.Type

// fieldsOf returns the types of the fields of a struct by their names in JSON, those of embedded
// structs included.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if known, ok := knownFields.Load(t); ok {
		return known.(map[string]reflect.Type)
	}
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		embedded := field.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		switch {
		case field.Anonymous && name == "" && embedded.Kind() == reflect.Struct:
			for name, promoted := range fieldsOf(embedded) {
				if _, hidden := fields[name]; !hidden {
					fields[name] = promoted
				}
			}
		case name != "-" && field.IsExported():
			fields[cmp.Or(name, field.Name)] = field.Type
		}
	}
	knownFields.Store(t, fields)
	return fields
}

// unknownFields are the fields of a document that this package's types do not declare. An object
// that is read, changed and written must not lose them. Nil means none, which leaves objects
// comparable. They never change after decoding, so copies may share them.
type unknownFields struct {
	value json.RawMessage           // of an unknown field
	below map[string]*unknownFields // by the name of a field, or the identity of an item
}

// with returns u with the unknown fields below a name.
func (u *unknownFields) with(name string, below *unknownFields) *unknownFields {
	if below == nil {
		return u
	}
	if u == nil {
		u = &unknownFields{below: map[string]*unknownFields{}}
	}
	u.below[name] = below
	return u
}

// identity returns what distinguishes an item in its list: the uid of an owner, or the type of a
// condition.
func identity(item []byte) string {
	var names struct {
		UID  string `json:"uid"`
		Type string `json:"type"`
	}
	_ = Unmarshal(item, &names)
	return cmp.Or(names.UID, names.Type)
}

// encode encodes a struct with its unknown fields.
func (u *unknownFields) encode(object any) ([]byte, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return u.addTo(data), nil
}

// addTo returns the document with the unknown fields. Those of a removed field or item are dropped.
// The document was made by json.Marshal, so that nothing here can fail.
func (u *unknownFields) addTo(data json.RawMessage) json.RawMessage {
	switch {
	case u == nil:
		return data
	case u.value != nil:
		return u.value
	case data[0] == '{':
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(data, &fields)
		for name, below := range u.below {
			if value, ok := fields[name]; ok || below.value != nil {
				fields[name] = below.addTo(value)
			}
		}
		data, _ = json.Marshal(fields)
	case data[0] == '[':
		var items []json.RawMessage
		_ = json.Unmarshal(data, &items)
		for i, item := range items {
			items[i] = u.below[identity(item)].addTo(item)
		}
		data, _ = json.Marshal(items)
	}
	return data
}
