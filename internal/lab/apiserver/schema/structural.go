package schema

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Schema is the OpenAPI schema at one place of a custom resource. It should be structural: types
// stand in one tree of properties and items, and anyOf, oneOf, allOf and not only narrow it down.
// [Schema.FillIn] applies defaults, [Schema.Validate] checks values, and [Schema.Lists] finds
// duplicates in sets and maps. The rules of x-kubernetes-validations are ignored; [HasRules] finds
// them. The messages are exactly those of kube-apiserver, which JSON schema libraries do not give;
// where its order is that of a Go map, fields are ordered by name. A Schema is immutable.
type Schema struct {
	Type, Format string
	Nullable     bool
	Default      any
	Enum         []any
	Pattern      string
	Required     []string

	Minimum, Maximum, MultipleOf       *float64
	ExclusiveMinimum, ExclusiveMaximum bool
	MinLength, MaxLength               *int64
	MinItems, MaxItems                 *int64
	MinProperties, MaxProperties       *int64

	Properties           map[string]*Schema
	AdditionalProperties *Schema
	Items                *Schema
	AllOf, AnyOf, OneOf  []*Schema
	Not                  *Schema

	IntOrString bool
	ListType    string
	ListMapKeys []string

	// written is the schema as its author wrote it.
	written map[string]any
	pattern *regexp.Regexp
}

// New parses an openAPIV3Schema without changing it.
func New(t map[string]any) *Schema {
	if t == nil {
		return nil
	}
	s := &Schema{
		Type: text(t, "type"), Format: text(t, "format"), Nullable: boolean(t, "nullable"), Default: t["default"], Pattern: text(t, "pattern"),
		Required: texts(t["required"]),
		Minimum:  number(t, "minimum"), Maximum: number(t, "maximum"), MultipleOf: number(t, "multipleOf"),
		ExclusiveMinimum: boolean(t, "exclusiveMinimum"), ExclusiveMaximum: boolean(t, "exclusiveMaximum"),
		MinLength: whole(t, "minLength"), MaxLength: whole(t, "maxLength"), MinItems: whole(t, "minItems"), MaxItems: whole(t, "maxItems"),
		MinProperties: whole(t, "minProperties"), MaxProperties: whole(t, "maxProperties"),
		AdditionalProperties: schemaAt(t, "additionalProperties"), Items: schemaAt(t, "items"), Not: schemaAt(t, "not"),
		AllOf: schemasAt(t, "allOf"), AnyOf: schemasAt(t, "anyOf"), OneOf: schemasAt(t, "oneOf"),
		IntOrString: boolean(t, "x-kubernetes-int-or-string"),
		ListType:    text(t, "x-kubernetes-list-type"), ListMapKeys: texts(t["x-kubernetes-list-map-keys"]),
		written: t,
	}
	s.Enum, _ = t["enum"].([]any)
	if properties, ok := t["properties"].(map[string]any); ok {
		s.Properties = map[string]*Schema{}
		for name := range properties {
			s.Properties[name] = schemaAt(properties, name)
		}
	}
	s.pattern, _ = regexp.Compile(s.Pattern)
	if !s.knowsFormat() {
		s.Format = ""
	}
	return s
}

// types returns the types that the schema accepts, or nil for any.
func (s *Schema) types() []string {
	switch {
	case s.IntOrString:
		return []string{"integer", "string"}
	case s.Type == "":
		return nil
	}
	return []string{s.Type}
}

func (s *Schema) accepts(kind string) bool { return slices.Contains(s.types(), kind) }

// has reports whether what is true of the schema or of any schema inside it.
func (s *Schema) has(what func(*Schema) bool) bool {
	if s == nil {
		return false
	}
	inside := slices.Concat([]*Schema{s.Items, s.AdditionalProperties, s.Not}, s.AllOf, s.AnyOf, s.OneOf)
	for _, name := range sortedKeys(s.Properties) {
		inside = append(inside, s.Properties[name])
	}
	return what(s) || slices.ContainsFunc(inside, func(one *Schema) bool { return one.has(what) })
}

// StatusSchema returns the schema of the status, or nil if there is none.
func (s *Schema) StatusSchema() *Schema { return s.at("status") }

// at returns the schema of a field, or nil if there is none.
func (s *Schema) at(field string) *Schema {
	if s == nil {
		return nil
	}
	if property, ok := s.Properties[field]; ok {
		return property
	}
	return s.AdditionalProperties
}

func schemaAt(t map[string]any, key string) *Schema {
	inner, _ := t[key].(map[string]any)
	return New(inner)
}

func schemasAt(t map[string]any, key string) []*Schema {
	list, _ := t[key].([]any)
	var schemas []*Schema
	for _, item := range list {
		if inner, ok := item.(map[string]any); ok {
			schemas = append(schemas, New(inner))
		}
	}
	return schemas
}

func text(t map[string]any, key string) string {
	s, _ := t[key].(string)
	return s
}

func boolean(t map[string]any, key string) bool {
	b, _ := t[key].(bool)
	return b
}

func texts(value any) []string {
	list, _ := value.([]any)
	var found []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			found = append(found, s)
		}
	}
	return found
}

func number(t map[string]any, key string) *float64 {
	switch v := t[key].(type) {
	case int64:
		return new(float64(v))
	case float64:
		return &v
	}
	return nil
}

func whole(t map[string]any, key string) *int64 {
	if v := number(t, key); v != nil {
		return new(int64(*v))
	}
	return nil
}

// join joins two parts of a path.
func join(path, field string) string { return strings.TrimPrefix(path+"."+field, ".") }

func indexed(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

func keyed(path, key string) string { return path + "[" + key + "]" }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
