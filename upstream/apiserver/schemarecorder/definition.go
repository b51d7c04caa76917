package main

import (
	"reflect"
	"strings"
)

// definition is a line of the file.
type definition struct {
	Name   string         `json:"name"`
	Schema map[string]any `json:"schema"`
	// Types are the fields' Go types where the schema suggests others: named strings, maps and
	// lists.
	Types map[string]string `json:"types,omitempty"`
	// Inside names the embedded struct of a field. It appears in the paths of errors about values.
	Inside map[string]string `json:"inside,omitempty"`
	// Omitted are the fields with omitempty and an empty value other than nil: "", 0, false, an
	// empty list or map.
	Omitted []string `json:"omitted,omitempty"`
	// Always are the fields that are always written.
	Always []string `json:"always,omitempty"`
}

func newDefinition(name string, schema map[string]any, t reflect.Type) definition {
	d := definition{Name: name, Schema: schema, Types: map[string]string{}, Inside: map[string]string{}}
	properties, _ := schema["properties"].(map[string]any)
	if t == nil || t.Kind() != reflect.Struct || properties == nil {
		return d
	}
	d.add(t, "", properties)
	return d
}

func (d *definition) add(t reflect.Type, inside string, properties map[string]any) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			d.add(field.Type, strings.TrimPrefix(inside+"."+field.Name, "."), properties)
			continue
		}
		property, published := properties[name].(map[string]any)
		if !published || name == "kind" || name == "apiVersion" {
			continue
		}
		if strings.Contains(options, "omitempty") && vanishes(field.Type) {
			d.Omitted = append(d.Omitted, name)
		}
		if !strings.Contains(options, "omitzero") && (!strings.Contains(options, "omitempty") || field.Type.Kind() == reflect.Struct) {
			d.Always = append(d.Always, name)
		}
		goType := field.Type
		for goType.Kind() == reflect.Pointer {
			goType = goType.Elem()
		}
		if text := goType.String(); text != suggested(property) {
			d.Types[name] = text
		}
		if inside != "" {
			d.Inside[name] = inside
		}
	}
}

// vanishes reports whether a type has an empty value that encoding/json omits.
func vanishes(t reflect.Type) bool { return t.Kind() != reflect.Pointer && t.Kind() != reflect.Struct }

// suggested returns a schema's Go type without named types. The reader of the file has the same
// rule.
func suggested(schema map[string]any) string {
	if all, ok := schema["allOf"].([]any); ok && len(all) == 1 {
		schema, _ = all[0].(map[string]any)
	}
	if reference, ok := schema["$ref"].(string); ok {
		parts := strings.Split(reference, ".")
		return strings.Join(parts[len(parts)-2:], ".")
	}
	items, _ := schema["items"].(map[string]any)
	values, _ := schema["additionalProperties"].(map[string]any)
	format, _ := schema["format"].(string)
	switch schema["type"] {
	case "array":
		return "[]" + suggested(items)
	case "object":
		return "map[string]" + suggested(values)
	case "boolean":
		return "bool"
	case "integer":
		return format
	case "number":
		return "float64"
	}
	if format == "byte" {
		return "[]uint8"
	}
	return "string"
}
