package resources

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"orrery/restclient/api"
)

// Schema is the OpenAPI schema at one place of a custom resource. It should be structural: types
// stand in one tree of properties and items, and anyOf, oneOf, allOf and not only narrow it down.
// [Schema.FillIn] applies defaults, [Schema.Validate] checks values, and [Schema.Lists] finds
// duplicates in sets and maps. The rules of x-kubernetes-validations are ignored; [Schema.HasRules]
// finds them. The messages are exactly those of kube-apiserver, which JSON schema libraries do not
// give; where its order is that of a Go map, fields are ordered by name. A Schema is immutable.
type Schema struct {
	Type, Format string
	Nullable     bool
	Default      literal
	Enum         []literal
	Pattern      string
	Required     []string

	Minimum, Maximum, MultipleOf       *float64
	ExclusiveMinimum, ExclusiveMaximum bool
	MinLength, MaxLength               *int64
	MinItems, MaxItems                 *int64
	MinProperties, MaxProperties       *int64

	Properties           map[string]*Schema
	AdditionalProperties *Schema `json:"-"`
	Items                *Schema
	AllOf, AnyOf, OneOf  []*Schema
	Not                  *Schema

	IntOrString bool     `json:"x-kubernetes-int-or-string"`
	ListType    string   `json:"x-kubernetes-list-type"`
	ListMapKeys []string `json:"x-kubernetes-list-map-keys"`
	Preserve    bool     `json:"x-kubernetes-preserve-unknown-fields"`
	Embedded    bool     `json:"x-kubernetes-embedded-resource"`
	Rules       []any    `json:"x-kubernetes-validations"`

	// SchemaOrBool is read into AdditionalProperties or Preserve.
	SchemaOrBool json.RawMessage `json:"additionalProperties"`

	pattern       *regexp.Regexp
	unknownFormat string // it is ignored
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
	s.pattern, _ = regexp.Compile(s.Pattern)
	if !s.knowsFormat() {
		s.Format, s.unknownFormat = "", s.Format
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

// each visits the schema and all schemas inside it.
func (s *Schema) each(visit func(*Schema)) {
	if s == nil {
		return
	}
	visit(s)
	inside := slices.Concat([]*Schema{s.Items, s.AdditionalProperties, s.Not}, s.AllOf, s.AnyOf, s.OneOf)
	for _, inner := range slices.AppendSeq(inside, maps.Values(s.Properties)) {
		inner.each(visit)
	}
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

// join joins two parts of a path.
func join(path, field string) string { return strings.TrimPrefix(path+"."+field, ".") }

func indexed(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

func keyed(path, key string) string { return path + "[" + key + "]" }
