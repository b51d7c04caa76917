package api

import (
	"bytes"
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
	if !json.Valid(data) {
		return json.Unmarshal(data, into) // for its error
	}
	e := exactNames{data: data, shared: true}
	e.value(reflect.TypeOf(into))
	return json.Unmarshal(e.data, into)
}

// exactNames walks through a valid document along the type that it is decoded into, and makes those
// names unknown that differ from the name of a field only by case.
type exactNames struct {
	data   []byte
	pos    int
	shared bool // data is the caller's
}

// value passes over the next value. A nil type has no fields.
func (e *exactNames) value(t reflect.Type) {
	t = decodedType(t)
	switch e.next() {
	case '{':
		e.pos++
		for e.next() != '}' {
			field := e.name(t)
			e.next()
			e.pos++ // the colon
			e.value(field)
			if e.next() == ',' {
				e.pos++
			}
		}
		e.pos++
	case '[':
		var element reflect.Type
		if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
			element = t.Elem()
		}
		e.pos++
		for e.next() != ']' {
			e.value(element)
			if e.next() == ',' {
				e.pos++
			}
		}
		e.pos++
	case '"':
		e.text()
	default:
		for e.pos < len(e.data) && strings.IndexByte(",]} \t\r\n", e.data[e.pos]) < 0 {
			e.pos++
		}
	}
}

// next skips white space and returns the byte after it, or 0 at the end.
func (e *exactNames) next() byte {
	for e.pos < len(e.data) {
		switch c := e.data[e.pos]; c {
		case ' ', '\t', '\r', '\n':
			e.pos++
		default:
			return c
		}
	}
	return 0
}

// text passes over a string and returns it with its quotes.
func (e *exactNames) text() []byte {
	start := e.pos
	for e.pos++; e.data[e.pos] != '"'; e.pos++ {
		if e.data[e.pos] == '\\' {
			e.pos++
		}
	}
	e.pos++
	return e.data[start:e.pos]
}

// name passes over the name of a field of t and returns the field's type, nil if it is unknown.
func (e *exactNames) name(t reflect.Type) reflect.Type {
	start := e.pos
	quoted := e.text()
	if t == nil || t.Kind() != reflect.Struct {
		if t != nil && t.Kind() == reflect.Map {
			return t.Elem()
		}
		return nil
	}
	fields := fieldsOf(t)
	plain := quoted[1 : len(quoted)-1]
	if field, known := fields[string(plain)]; known {
		return field
	}
	var name string
	_ = json.Unmarshal(quoted, &name) // it may be written with escapes
	if field, known := fields[name]; known {
		return field
	}
	for known := range fields {
		if strings.EqualFold(name, known) {
			e.forget(start+1, start+len(quoted)-1)
			break
		}
	}
	return nil
}

// forget makes the name at data[from:to] one that no field has.
func (e *exactNames) forget(from, to int) {
	if e.shared {
		e.data, e.shared = bytes.Clone(e.data), false
	}
	for i := from; i < to; i++ {
		e.data[i] = '-'
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

// fieldsOf returns the types of a struct's fields by their names in JSON, those of embedded structs
// included.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if known, ok := knownFields.Load(t); ok {
		return known.(map[string]reflect.Type)
	}
	fields := map[string]reflect.Type{}
	for _, field := range reflect.VisibleFields(t) { // those of an embedded struct follow it
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inline := field.Anonymous && name == ""
		if name == "-" || inline || !field.IsExported() || isBelowNamed(t, field) {
			continue
		}
		if name == "" {
			name = field.Name
		}
		fields[name] = field.Type
	}
	knownFields.Store(t, fields)
	return fields
}

// isBelowNamed reports whether a promoted field belongs to an embedded struct with a name of its
// own, such as metadata.
func isBelowNamed(t reflect.Type, field reflect.StructField) bool {
	for depth := 1; depth < len(field.Index); depth++ {
		name, _, _ := strings.Cut(t.FieldByIndex(field.Index[:depth]).Tag.Get("json"), ",")
		if name != "" {
			return true
		}
	}
	return false
}
