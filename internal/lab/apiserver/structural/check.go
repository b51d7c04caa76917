package structural

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// Check validates the openAPIV3Schema of a definition; path is its position there. The schema must
// be structural: types may not be declared inside anyOf, oneOf, allOf and not (KEP-1693). Its
// defaults must be valid. With a status subresource the root is restricted to rootNames.
func Check(path string, openAPIV3Schema map[string]any, hasStatus bool) []apierrors.FieldError {
	s := New(openAPIV3Schema)
	c := &check{}
	if hasStatus {
		c.rootWithStatus(s, path)
	}
	if s.Nullable {
		c.forbidden(path+".nullable", "nullable cannot be true at the root")
	}
	before := len(c.wrong)
	if !s.has((*Schema).unsupported) {
		c.structure(s, path, atRoot)
		slices.SortStableFunc(c.wrong[before:], func(a, b apierrors.FieldError) int { return cmp.Compare(a.Error(), b.Error()) })
		if len(c.wrong) == before {
			c.defaults(s, path, true)
		}
	}
	c.schema(s, path, context{root: true})
	return c.wrong
}

// rootNames are the fields that the root of a schema with a status subresource may have.
var rootNames = strings.Fields("Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern " +
	"MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations")

func (c *check) rootWithStatus(s *Schema, path string) {
	for _, key := range sortedKeys(s.written) {
		name := strings.ToUpper(key[:1]) + key[1:]
		if key == "x-kubernetes-preserve-unknown-fields" || key == "x-kubernetes-validations" || s.written[key] == false {
			continue
		}
		if !slices.Contains(rootNames, name) {
			c.invalid(path, s.written, fmt.Sprintf("only %v fields are allowed at the root of the schema if the status subresource is enabled", rootNames))
			return
		}
	}
	if s.Type != "object" && s.Type != "" {
		c.invalid(path+".type", s.Type, `only "object" is allowed as the type at the root of the schema if the status subresource is enabled`)
	}
}

// check collects the errors of a schema.
type check struct{ wrong []apierrors.FieldError }

func (c *check) add(kind api.CauseType, path string, value any, detail string) {
	c.wrong = append(c.wrong, apierrors.FieldError{Type: kind, Field: path, Value: value, Detail: detail})
}

func (c *check) required(path, detail string)  { c.add(apierrors.FieldRequired, path, nil, detail) }
func (c *check) forbidden(path, detail string) { c.add(apierrors.FieldForbidden, path, nil, detail) }
func (c *check) invalid(path string, value any, detail string) {
	c.add(apierrors.FieldInvalid, path, value, detail)
}

func (c *check) unsupported(path, value string, supported ...string) {
	c.add(apierrors.FieldNotSupported, path, value, `supported values: "`+strings.Join(supported, `", "`)+`"`)
}

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

// unsupported reports whether the schema uses keywords that a structural schema cannot have.
func (s *Schema) unsupported() bool {
	for _, key := range []string{"$ref", "definitions", "dependencies", "patternProperties", "additionalItems", "id"} {
		if _, there := s.written[key]; there {
			return true
		}
	}
	_, several := s.written["items"].([]any)
	return several || s.Type == "null"
}

// level is the position of a schema, as the message for an absent type.
type level string

const (
	atRoot level = "must not be empty at the root"
	inItem level = "must not be empty for specified array items"
	inProp level = "must not be empty for specified object fields"
)

// structure checks that a schema is structural.
func (c *check) structure(s *Schema, path string, where level) {
	if s == nil {
		return
	}
	if s.Type == "array" && s.Items == nil {
		c.required(path+".items", "must be specified")
	}
	c.structure(s.Items, path+".items", inItem)
	for name, property := range s.Properties {
		c.structure(property, keyed(path+".properties", name), inProp)
	}
	if _, there := s.written["additionalProperties"]; there {
		if where == atRoot {
			c.forbidden(path+".additionalProperties", "must not be used at the root")
		}
		if s.Embedded {
			c.forbidden(path+".additionalProperties", "must not be used if x-kubernetes-embedded-resource is set")
		}
	}
	c.structure(s.AdditionalProperties, path+".additionalProperties", inProp)
	if s.IntOrString && s.PreserveUnknown {
		c.invalid(path+".x-kubernetes-preserve-unknown-fields", true, "must be false if x-kubernetes-int-or-string is true")
	}
	if s.IntOrString && s.Embedded {
		c.invalid(path+".x-kubernetes-embedded-resource", true, "must be false if x-kubernetes-int-or-string is true")
	}
	c.narrowing(s, path)
	c.root(s, path, where)
}

// root checks the types, and the fields kind, apiVersion and metadata of the root and of embedded
// resources.
func (c *check) root(s *Schema, path string, where level) {
	const embedded = "must be object if x-kubernetes-embedded-resource is true"
	switch {
	case s.Embedded && s.Type == "":
		c.required(path+".type", embedded)
	case s.Embedded && s.Type != "object":
		c.invalid(path+".type", s.Type, embedded)
	case s.Type == "" && !s.IntOrString && !s.PreserveUnknown:
		c.required(path+".type", string(where))
	}
	if where == atRoot && s.Type != "" && s.Type != "object" {
		c.invalid(path+".type", s.Type, "must be object at the root")
	}
	if s.Embedded && !s.PreserveUnknown && len(s.Properties) == 0 {
		c.required(path+".properties", "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields")
	}
	if where != atRoot && !s.Embedded {
		return
	}
	for _, name := range []string{"kind", "apiVersion"} {
		if property := s.Properties[name]; property != nil && property.Type != "string" {
			c.invalid(keyed(path+".properties", name)+".type", property.Type, "must be string")
		}
	}
	metadata := s.Properties["metadata"]
	if metadata == nil {
		return
	}
	if metadata.Type != "object" {
		c.invalid(keyed(path+".properties", "metadata")+".type", metadata.Type, "must be object")
	}
	if where == atRoot && !metadata.namesOnly() {
		c.forbidden(keyed(path+".properties", "metadata"), "must not specify anything other than name and generateName, but metadata is implicitly specified")
	}
}

// namesOnly reports whether a schema of metadata restricts nothing but names.
func (s *Schema) namesOnly() bool {
	for key := range s.written {
		if key != "type" && key != "properties" && key != "default" {
			return false
		}
	}
	for name := range s.Properties {
		if name != "name" && name != "generateName" {
			return false
		}
	}
	return true
}

// narrowing checks anyOf, allOf, oneOf, not and patterns.
func (c *check) narrowing(s *Schema, path string) {
	each := func(key string, schemas []*Schema) {
		for i, one := range schemas {
			c.nested(one, indexed(path+"."+key, i))
		}
	}
	if !isIntOrString(s.AnyOf) {
		each("anyOf", s.AnyOf)
	}
	for i, one := range s.AllOf {
		if i > 0 || !isIntOrString(one.AnyOf) {
			c.nested(one, indexed(path+".allOf", i))
		}
	}
	each("oneOf", s.OneOf)
	c.nested(s.Not, path+".not")
	if _, err := regexp.Compile(s.Pattern); err != nil {
		c.invalid(path+".pattern", s.Pattern, "must be a valid regular expression, but isn't: "+err.Error())
	}
}

// isIntOrString reports whether anyOf has the two types of an int-or-string, the only types that
// may be declared there.
func isIntOrString(anyOf []*Schema) bool {
	return len(anyOf) == 2 && len(anyOf[0].written) == 1 && len(anyOf[1].written) == 1 && anyOf[0].Type == "integer" && anyOf[1].Type == "string"
}

// nested checks a schema inside anyOf, allOf, oneOf or not.
func (c *check) nested(s *Schema, path string) {
	if s == nil {
		return
	}
	c.narrowing(s, path)
	c.nested(s.Items, path+".items")
	for name, property := range s.Properties {
		c.nested(property, keyed(path+".properties", name))
	}
	for _, one := range []struct{ keys, wanted string }{
		{"type title description x-kubernetes-list-map-keys x-kubernetes-validations", "must be empty to be structural"},
		{"additionalProperties default x-kubernetes-list-type x-kubernetes-map-type", "must be undefined to be structural"},
		{"nullable x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource x-kubernetes-int-or-string", "must be false to be structural"},
	} {
		for key := range strings.FieldsSeq(one.keys) {
			if value, there := s.written[key]; there && value != false && value != "" {
				c.forbidden(path+"."+key, one.wanted)
			}
		}
	}
	if _, there := s.Properties["metadata"]; there {
		c.forbidden(keyed(path+".properties", "metadata"), "must not be specified in a nested context")
	}
}

// defaults checks that defaults are valid and have no unknown fields.
func (c *check) defaults(s *Schema, path string, root bool) {
	if s == nil {
		return
	}
	if s.Default != nil {
		if !s.pruned(s.Default) {
			c.invalid(path+".default", s.Default, "must not have unknown fields")
		}
		c.wrong = append(c.wrong, s.Validate(path+".default", s.Default, nil)...)
	}
	c.defaults(s.Items, path+".items", false)
	for _, name := range sortedKeys(s.Properties) {
		if !root || name != "metadata" {
			c.defaults(s.Properties[name], keyed(path+".properties", name), false)
		}
	}
}
