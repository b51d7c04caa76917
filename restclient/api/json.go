package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// Unmarshal decodes JSON like encoding/json, but field names are case-sensitive, as Kubernetes has
// them. encoding/json takes "Metadata" for the field metadata: a document that has both would have
// its finalizers overwritten by a field that the server does not know.
//
// An Unmarshaler decodes its own part of the document.
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
	d := document{data: data, shared: true, keep: keep}
	unknown := d.value(reflect.TypeOf(into))
	return unknown, json.Unmarshal(d.data, into)
}

// document is a valid document. One pass along the type that it is decoded into makes those names
// unknown that differ from the name of a field only by case, and collects the unknown fields.
type document struct {
	data   []byte
	pos    int
	shared bool // data is the caller's
	keep   bool // unknown fields are collected
}

// value passes over the next value and returns the unknown fields in it. A nil type has no fields.
func (d *document) value(t reflect.Type) (unknown *unknownFields) {
	t = decodedType(t)
	switch d.next() {
	case '{':
		d.pos++
		for d.next() != '}' {
			begin := d.pos
			name, field, known := d.name(t)
			quoted := d.data[begin:d.pos]
			d.next()
			d.pos++ // the colon
			d.next()
			start := d.pos
			below := d.value(field)
			if !known && d.keep {
				below = &unknownFields{value: bytes.Clone(d.data[start:d.pos])}
			}
			if below != nil && t.Kind() == reflect.Map {
				name = plainText(quoted)
			}
			unknown = unknown.with(name, below)
			if d.next() == ',' {
				d.pos++
			}
		}
		d.pos++
	case '[':
		var element reflect.Type
		if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
			element = t.Elem()
		}
		d.pos++
		for d.next() != ']' {
			start := d.pos
			if below := d.value(element); below != nil {
				unknown = unknown.with(identity(d.data[start:d.pos]), below)
			}
			if d.next() == ',' {
				d.pos++
			}
		}
		d.pos++
	case '"':
		d.text()
	default:
		for d.pos < len(d.data) && strings.IndexByte(",]} \t\r\n", d.data[d.pos]) < 0 {
			d.pos++
		}
	}
	return unknown
}

// next skips white space and returns the byte after it. There is one: the document is valid, and
// has not ended.
func (d *document) next() byte {
	for strings.IndexByte(" \t\r\n", d.data[d.pos]) >= 0 {
		d.pos++
	}
	return d.data[d.pos]
}

// text passes over a string and returns it with its quotes.
func (d *document) text() []byte {
	start := d.pos
	for d.pos++; d.data[d.pos] != '"'; d.pos++ {
		if d.data[d.pos] == '\\' {
			d.pos++
		}
	}
	d.pos++
	return d.data[start:d.pos]
}

// name passes over the name of a field of t. It returns the name and type of the field, and whether
// t has it: a type without fields has any. It does not read the keys of a map, which are many.
func (d *document) name(t reflect.Type) (name string, field reflect.Type, known bool) {
	start := d.pos
	quoted := d.text()
	switch {
	case t == nil:
		return "", nil, true
	case t.Kind() == reflect.Map:
		return "", t.Elem(), true
	case t.Kind() != reflect.Struct:
		return "", nil, true
	}
	fields := fieldsOf(t)
	if f, ok := fields[string(quoted[1:len(quoted)-1])]; ok { // the compiler makes no string of it
		return f.name, f.t, true
	}
	name = plainText(quoted)
	if f, ok := fields[name]; ok {
		return name, f.t, true
	}
	for other := range fields {
		if strings.EqualFold(name, other) {
			d.forget(start+1, start+len(quoted)-1)
			break
		}
	}
	return name, nil, false
}

// plainText returns the text of a string with quotes, which may be written with escapes.
func plainText(quoted []byte) (text string) {
	_ = json.Unmarshal(quoted, &text) // it cannot fail: the document is valid
	return text
}

// forget makes the name at data[from:to] one that no field has.
func (d *document) forget(from, to int) {
	if d.shared {
		d.data, d.shared = bytes.Clone(d.data), false
	}
	for i := from; i < to; i++ {
		d.data[i] = '-'
	}
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// decodedType returns the type behind pointers, or nil for one that decodes itself or may be
// anything.
func decodedType(t reflect.Type) reflect.Type {
	for t != nil {
		switch {
		case t.Kind() == reflect.Interface, t.Implements(unmarshaler), reflect.PointerTo(t).Implements(unmarshaler):
			return nil
		case t.Kind() != reflect.Pointer:
			return t
		}
		t = t.Elem()
	}
	return nil
}

var knownFields sync.Map // the fields of each struct, by reflect.Type

// knownField is a field of a struct.
type knownField struct {
	name string // in JSON
	t    reflect.Type
}

// fieldsOf returns the fields of a struct by their names in JSON, those of embedded structs
// included.
func fieldsOf(t reflect.Type) map[string]knownField {
	if known, ok := knownFields.Load(t); ok {
		return known.(map[string]knownField)
	}
	fields := map[string]knownField{}
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
			name = cmp.Or(name, field.Name)
			fields[name] = knownField{name, field.Type}
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
