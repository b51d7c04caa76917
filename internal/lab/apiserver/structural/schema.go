package structural

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Schema describes the values at one place of a custom resource's objects. It does not change.
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

	IntOrString, PreserveUnknown, Embedded bool
	ListType, MapType                      string
	ListMapKeys                            []string
	Rules                                  []Rule

	// written is the schema as its author wrote it, for what is only checked.
	written map[string]any
	pattern *regexp.Regexp
	// rules are the compiled Rules.
	rules []*program
}

// Rule is an entry of x-kubernetes-validations. Its names are those that sentences about rules show.
type Rule struct {
	Rule, Message, MessageExpression string
	Reason                           *string
	FieldPath                        string
	OptionalOldSelf                  *bool
}

// New reads an openAPIV3Schema, which is only read. Rules that cannot be compiled are left out: [Check] finds them.
func New(openAPIV3Schema map[string]any) *Schema {
	s := parse(openAPIV3Schema)
	s.compile()
	return s
}

func parse(t map[string]any) *Schema {
	if t == nil {
		return nil
	}
	s := &Schema{
		Type: text(t, "type"), Format: text(t, "format"), Nullable: truth(t, "nullable"), Default: t["default"], Pattern: text(t, "pattern"),
		Required: texts(t["required"]),
		Minimum:  number(t, "minimum"), Maximum: number(t, "maximum"), MultipleOf: number(t, "multipleOf"),
		ExclusiveMinimum: truth(t, "exclusiveMinimum"), ExclusiveMaximum: truth(t, "exclusiveMaximum"),
		MinLength: whole(t, "minLength"), MaxLength: whole(t, "maxLength"), MinItems: whole(t, "minItems"), MaxItems: whole(t, "maxItems"),
		MinProperties: whole(t, "minProperties"), MaxProperties: whole(t, "maxProperties"),
		AdditionalProperties: schemaAt(t, "additionalProperties"), Items: schemaAt(t, "items"), Not: schemaAt(t, "not"),
		AllOf: schemasAt(t, "allOf"), AnyOf: schemasAt(t, "anyOf"), OneOf: schemasAt(t, "oneOf"),
		IntOrString: truth(t, "x-kubernetes-int-or-string"), PreserveUnknown: truth(t, "x-kubernetes-preserve-unknown-fields"),
		Embedded: truth(t, "x-kubernetes-embedded-resource"),
		ListType: text(t, "x-kubernetes-list-type"), MapType: text(t, "x-kubernetes-map-type"), ListMapKeys: texts(t["x-kubernetes-list-map-keys"]),
		written: t,
	}
	s.Enum, _ = t["enum"].([]any)
	if properties, ok := t["properties"].(map[string]any); ok {
		s.Properties = map[string]*Schema{}
		for name := range properties {
			s.Properties[name] = schemaAt(properties, name)
		}
	}
	// Whoever has sent a rule of a wrong form has been refused by the type of the definition.
	data, _ := json.Marshal(t["x-kubernetes-validations"])
	_ = json.Unmarshal(data, &s.Rules)
	s.pattern, _ = regexp.Compile(s.Pattern)
	if !s.knowsFormat() {
		s.Format = ""
	}
	return s
}

// types are the types that fit: none for any.
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

// StatusSchema is that of the status, nil if nothing is said about it.
func (s *Schema) StatusSchema() *Schema { return s.at("status") }

// Find returns the schema of a field of an object deep inside, nil if there is none.
func (s *Schema) Find(path []string) *Schema {
	for _, name := range path {
		if s == nil || s.Properties == nil {
			return nil
		}
		s = s.Properties[name]
	}
	return s
}

// at returns the schema of a field of an object, nil if there is none.
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
	return parse(inner)
}

func schemasAt(t map[string]any, key string) []*Schema {
	list, _ := t[key].([]any)
	var schemas []*Schema
	for _, item := range list {
		if inner, ok := item.(map[string]any); ok {
			schemas = append(schemas, parse(inner))
		}
	}
	return schemas
}

func text(t map[string]any, key string) string {
	s, _ := t[key].(string)
	return s
}

func truth(t map[string]any, key string) bool {
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

// join puts two parts of a path together.
func join(path, field string) string { return strings.TrimPrefix(path+"."+field, ".") }

func indexed(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

func keyed(path, key string) string { return path + "[" + key + "]" }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
