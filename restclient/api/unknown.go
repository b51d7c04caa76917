package api

import (
	"encoding/json"
	"reflect"
	"strings"
)

// unknownFields holds what a document has and this package's types do not: a newer server's fields. An object that is
// read, changed and put back must not lose them. Keys are the parent ("" is the document itself) and the field's
// name. Like the rest of a decoded object it is never changed after decoding, so copies may share it.
type unknownFields map[string]map[string]json.RawMessage

// schema says which fields are known, by parent.
type schema map[string]map[string]bool

// schemaOf reads a struct's JSON tags, and those of the structs one level below.
func schemaOf(object reflect.Type) schema {
	known := schema{"": fieldsOf(object)}
	for _, field := range reflect.VisibleFields(object) {
		if name := jsonName(field); name != "" && field.Type.Kind() == reflect.Struct {
			known[name] = fieldsOf(field.Type)
		}
	}
	return known
}

func fieldsOf(t reflect.Type) map[string]bool {
	names := map[string]bool{}
	for i := range t.NumField() {
		field := t.Field(i)
		if name := jsonName(field); name != "" {
			names[name] = true
		} else if field.Anonymous {
			for name := range fieldsOf(field.Type) {
				names[name] = true
			}
		}
	}
	return names
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// collect returns what data has besides the known fields; nil if there is nothing.
func (s schema) collect(data []byte) (unknownFields, error) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	var unknown unknownFields
	for name, value := range document {
		if !s[""][name] {
			unknown = unknown.with("", name, value)
			continue
		}
		known, deeper := s[name]
		if !deeper {
			continue
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(value, &fields); err != nil {
			return nil, err
		}
		for field, value := range fields {
			if !known[field] {
				unknown = unknown.with(name, field, value)
			}
		}
	}
	return unknown, nil
}

func (u unknownFields) with(parent, name string, value json.RawMessage) unknownFields {
	if u == nil {
		u = unknownFields{}
	}
	if u[parent] == nil {
		u[parent] = map[string]json.RawMessage{}
	}
	u[parent][name] = value
	return u
}

// merge adds the fields to a document that was written without them.
func (u unknownFields) merge(data []byte) ([]byte, error) {
	if len(u) == 0 {
		return data, nil
	}
	var document map[string]json.RawMessage
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	for parent, fields := range u {
		target := document
		if parent != "" {
			target = nil
			if err := json.Unmarshal(document[parent], &target); err != nil {
				return nil, err
			}
		}
		for name, value := range fields {
			target[name] = value
		}
		if parent != "" {
			merged, err := json.Marshal(target)
			if err != nil {
				return nil, err
			}
			document[parent] = merged
		}
	}
	return json.Marshal(document)
}
