package resources

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"orrery/restclient/api"
)

// Schema is the OpenAPI schema at one place of a custom resource. It should be structural: types
// stand in one tree of properties and items, and anyOf, oneOf, allOf and not only narrow it down.
// [Schema.FillIn] applies defaults, [Schema.Validate] checks values, and [Schema.Lists] finds
// duplicates in sets and maps. The rules of x-kubernetes-validations are ignored; [Schema.HasRules]
// finds them. A Schema is immutable.
type Schema struct {
	Type, Format string
	Nullable     bool
	Default      literal

	Properties           map[string]*Schema
	AdditionalProperties *Schema `json:"-"`
	Items                *Schema

	ListType    string   `json:"x-kubernetes-list-type"`
	ListMapKeys []string `json:"x-kubernetes-list-map-keys"`
	Preserve    bool     `json:"x-kubernetes-preserve-unknown-fields"`
	Embedded    bool     `json:"x-kubernetes-embedded-resource"`
	Rules       []any    `json:"x-kubernetes-validations"`

	// SchemaOrBool is read into AdditionalProperties or Preserve.
	SchemaOrBool json.RawMessage `json:"additionalProperties"`

	// compiled returns the validator, nil if the schema is not valid. Only the root has it.
	compiled func() *jsonschema.Schema
}

// New parses an openAPIV3Schema and ignores fields of the wrong type. It returns nil, which accepts
// everything, if there is none.
func New(openAPIV3Schema map[string]any) *Schema {
	if openAPIV3Schema == nil {
		return nil
	}
	data, _ := json.Marshal(openAPIV3Schema)
	s := &Schema{}
	_ = json.Unmarshal(data, s) // it reads the other fields too
	s.each((*Schema).complete)
	s.compiled = sync.OnceValue(func() *jsonschema.Schema { return compiled(openAPIV3Schema) })
	return s
}

// complete derives the fields that are not read as they are written.
func (s *Schema) complete() {
	switch more := string(s.SchemaOrBool); {
	case more == "true":
		s.Preserve = true
	case strings.HasPrefix(more, "{"):
		s.AdditionalProperties = &Schema{}
		_ = json.Unmarshal(s.SchemaOrBool, s.AdditionalProperties)
	}
}

// literal is a value in a schema, with the types of [api.Unstructured].
type literal struct{ value any }

func (l *literal) UnmarshalJSON(data []byte) (err error) {
	l.value, err = decodeJSON(data)
	return err
}

// decodeJSON decodes any value with the types of [api.Unstructured].
func decodeJSON(data []byte) (any, error) {
	var wrapped api.Unstructured // only objects can be decoded into it
	err := json.Unmarshal(slices.Concat([]byte(`{"":`), data, []byte("}")), &wrapped)
	return wrapped.Object[""], err
}

// each visits the schema and all schemas inside it.
func (s *Schema) each(visit func(*Schema)) {
	if s == nil {
		return
	}
	visit(s)
	s.Items.each(visit)
	s.AdditionalProperties.each(visit)
	for _, property := range s.Properties {
		property.each(visit)
	}
}

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

// join joins two parts of a path.
func join(path, field string) string { return strings.TrimPrefix(path+"."+field, ".") }

func indexed(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

func keyed(path, key string) string { return path + "[" + key + "]" }
