package structural

import (
	"fmt"
	"slices"
)

// context is the position of a schema, as far as it decides which keywords are allowed.
type context struct {
	root bool
	// inMetadata is true inside kind, apiVersion and metadata of a resource.
	inMetadata bool
	// noDefaults says why a default is forbidden.
	noDefaults string
}

var typeNames = []string{"array", "boolean", "integer", "number", "object", "string"}

// schema checks the JSON schema keywords that kube-apiserver supports.
func (c *check) schema(s *Schema, path string, in context) {
	if s == nil {
		return
	}
	c.standard(s, path, in)
	if boolean(s.written, "uniqueItems") {
		c.forbidden(path+".uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic")
	}
	if values, there := s.written["additionalProperties"]; there && len(s.Properties) > 0 && values != true {
		c.forbidden(path+".additionalProperties", "additionalProperties and properties are mutual exclusive")
	}
	inside := in
	inside.root = false
	values := inside
	if in.inMetadata {
		values.noDefaults = " inside additionalProperties applying to object metadata"
	}
	c.schema(s.AdditionalProperties, path+".additionalProperties", values)
	for _, name := range sortedKeys(s.Properties) {
		property := inside
		if (in.root || s.Embedded) && (name == "metadata" || name == "kind" || name == "apiVersion") {
			property.inMetadata = true
			if in.root {
				property.noDefaults = " in top-level " + name
			}
		}
		c.schema(s.Properties[name], keyed(path+".properties", name), property)
	}
	c.schema(s.Not, path+".not", inside)
	for key, schemas := range map[string][]*Schema{"allOf": s.AllOf, "oneOf": s.OneOf, "anyOf": s.AnyOf} {
		for i, one := range schemas {
			c.schema(one, indexed(path+"."+key, i), inside)
		}
	}
	c.schema(s.Items, path+".items", inside)
	c.extensions(s, path)
}

// standard checks the standard JSON schema keywords.
func (c *check) standard(s *Schema, path string, in context) {
	if s.Type != "" && !slices.Contains(typeNames, s.Type) {
		c.unsupported(path+".type", s.Type, typeNames...)
	}
	if s.Default != nil && in.noDefaults != "" {
		c.forbidden(path+".default", "must not be set"+in.noDefaults)
	}
	for _, key := range []string{"id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"} {
		if _, there := s.written[key]; there {
			c.forbidden(path+"."+key, key+" is not supported")
		}
	}
	if s.Type == "null" {
		c.forbidden(path+".type", "type cannot be set to null, use nullable as an alternative")
	}
	if _, several := s.written["items"].([]any); several {
		c.forbidden(path+".items", "items must be a schema object and not an array")
	}
	if in.inMetadata && s.Embedded {
		c.forbidden(path+".x-kubernetes-embedded-resource", "must not be used inside of resource meta")
	}
}

// extensions checks the x-kubernetes keywords.
func (c *check) extensions(s *Schema, path string) {
	if s.written["x-kubernetes-preserve-unknown-fields"] == false {
		c.invalid(path+".x-kubernetes-preserve-unknown-fields", false, "must be true or undefined")
	}
	if s.MapType != "" {
		c.typed(s, path, "object", "x-kubernetes-map-type")
		if s.MapType != "atomic" && s.MapType != "granular" {
			c.unsupported(path+".x-kubernetes-map-type", s.MapType, "atomic", "granular")
		}
	}
	if s.ListType != "" && c.typed(s, path, "array", "x-kubernetes-list-type") && s.ListType == "set" && s.Items != nil {
		const atomic = "must be atomic as item of a list with x-kubernetes-list-type=set"
		switch {
		case s.Items.Type == "array" && s.Items.ListType != "" && s.Items.ListType != "atomic":
			c.invalid(path+".items.x-kubernetes-list-type", s.Items.ListType, atomic)
		case s.Items.Type == "object" && s.Items.MapType != "atomic":
			c.invalid(path+".items.x-kubernetes-map-type", s.Items.written["x-kubernetes-list-type"], atomic)
		}
	}
	if s.ListType != "" && !slices.Contains([]string{"atomic", "set", "map"}, s.ListType) {
		c.unsupported(path+".x-kubernetes-list-type", s.ListType, "atomic", "set", "map")
	}
	if len(s.ListMapKeys) > 0 && s.ListType != "map" {
		const wanted = "must be map if x-kubernetes-list-map-keys is non-empty"
		if s.ListType == "" {
			c.required(path+".x-kubernetes-list-type", wanted)
		} else {
			c.invalid(path+".x-kubernetes-list-type", s.ListType, wanted)
		}
	}
	if s.ListType == "map" {
		c.mapKeys(s, path)
	}
	if (s.ListType == "set" || s.ListType == "map") && s.Items != nil && s.Items.Nullable {
		c.forbidden(path+".items.nullable", "cannot be nullable when x-kubernetes-list-type is "+s.ListType)
	}
	if s.ListType == "map" && s.Items != nil {
		c.keysAreThere(s, path)
	}
}

// typed checks that a schema with an x-kubernetes keyword has the type that the keyword requires.
func (c *check) typed(s *Schema, path, want, word string) bool {
	detail := fmt.Sprintf("must be %s if %s is specified", want, word)
	switch s.Type {
	case want:
		return true
	case "":
		c.required(path+".type", detail)
	default:
		c.invalid(path+".type", s.Type, detail)
	}
	return false
}

func (c *check) mapKeys(s *Schema, path string) {
	const word = ".x-kubernetes-list-map-keys"
	if len(s.ListMapKeys) == 0 {
		c.required(path+word, "must not be empty if x-kubernetes-list-type is map")
	}
	switch {
	case s.Items == nil:
		c.required(path+".items", "must have a schema if x-kubernetes-list-type is map")
		return
	case s.Items.Type != "object":
		c.invalid(path+".items.type", s.Items.Type, "must be object if parent array's x-kubernetes-list-type is map")
		return
	}
	for i, key := range s.ListMapKeys {
		switch property := s.Items.Properties[key]; {
		case property == nil:
			c.invalid(path+word, s.ListMapKeys, "entries must all be names of item properties")
		case property.Type == "array" || property.Type == "object":
			c.invalid(keyed(path+".items.properties", key)+".type", s.Items.Type, "must be a scalar type if parent array's x-kubernetes-list-type is map")
		}
		if slices.Contains(s.ListMapKeys[:i], key) {
			c.invalid(path+word, s.ListMapKeys, "must not contain duplicate entries")
		}
	}
}

// keysAreThere checks that every list map key is required or has a default.
func (c *check) keysAreThere(s *Schema, path string) {
	for _, key := range s.ListMapKeys {
		property := s.Items.Properties[key]
		if property == nil {
			continue
		}
		below := keyed(path+".items.properties", key)
		if !slices.Contains(s.Items.Required, key) && property.Default == nil {
			c.required(below+".default", "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property")
		}
		if property.Nullable {
			c.forbidden(below+".nullable", "this property is in x-kubernetes-list-map-keys, so it cannot be nullable")
		}
	}
}
