package resources

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"orrery/restclient/api"
)

// load builds the types of the recorded definitions. Since types refer to each other, it creates
// all of them before it fills in their fields.
func load(data []byte) *Set {
	s := &Set{definitions: map[string]*definition{}, types: map[string]*Type{},
		kinds: map[api.GroupVersionKind]string{}}
	for line := range bytes.Lines(data) {
		d := &definition{}
		if err := json.Unmarshal(line, d); err != nil {
			panic("schema: schemas.jsonl: " + err.Error())
		}
		s.definitions[d.Name] = d
		s.types[d.Name] = outline(d)
		for _, gvk := range kindsOf(d.Schema) {
			s.kinds[gvk] = d.Name
		}
	}
	for name, d := range s.definitions {
		s.fill(s.types[name], d)
	}
	return s
}

// special are the definitions that are not structs in Go.
var special = map[string]Kind{
	"resource.Quantity":    Quantity,
	"v1.Time":              Time,
	"v1.MicroTime":         MicroTime,
	"intstr.IntOrString":   IntOrString,
	"runtime.RawExtension": Any, "v1.FieldsV1": Any, "v1.Patch": Any, "v1.JSON": Any,
	"v1.JSONSchemaPropsOrArray": Any, "v1.JSONSchemaPropsOrBool": Any, "v1.JSONSchemaPropsOrStringArray": Any,
}

func outline(d *definition) *Type {
	t := &Type{kind: Object, name: d.short(), fields: map[string]*Type{}, always: d.Always}
	if kind, ok := special[d.goName()]; ok {
		t.kind, t.fields = kind, nil
	}
	return t
}

func (s *Set) fill(t *Type, d *definition) {
	if t.kind != Object {
		return
	}
	properties, _ := d.Schema["properties"].(map[string]any)
	for name, property := range properties {
		field := s.place(property.(map[string]any))
		field.omitted = slices.Contains(d.Omitted, name)
		t.fields[name] = field
	}
}

// place returns the type of a field or element.
func (s *Set) place(schema map[string]any) *Type {
	t := &Type{}
	if name := reference(schema); name != "" {
		*t = *s.types[name] // shares the map of fields, which may be filled in later
	} else {
		s.describe(t, schema)
	}
	strategy, _ := schema["x-kubernetes-patch-strategy"].(string)
	for word := range strings.SplitSeq(strategy, ",") {
		switch word {
		case "merge":
			t.strategy.Merge = true
		case "replace":
			t.strategy.Replace = true
		}
	}
	t.mergeKey, _ = schema["x-kubernetes-patch-merge-key"].(string)
	return t
}

// describe parses a schema that is not a reference.
func (s *Set) describe(t *Type, schema map[string]any) {
	switch schema["type"] {
	case "array":
		items, _ := schema["items"].(map[string]any)
		t.kind, t.element = Array, s.place(items)
	case "object":
		values, _ := schema["additionalProperties"].(map[string]any)
		t.kind, t.element = Object, s.place(values)
	case "integer":
		t.kind, t.bits = Integer, 64
		if schema["format"] == "int32" {
			t.bits = 32
		}
	case "number":
		t.kind = Number
	case "boolean":
		t.kind = Boolean
	case "string":
		t.kind = String
		if schema["format"] == "byte" {
			t.kind = Bytes
		}
	}
}

func kindsOf(schema map[string]any) []api.GroupVersionKind {
	var kinds []api.GroupVersionKind
	list, _ := schema["x-kubernetes-group-version-kind"].([]any)
	for _, entry := range list {
		names, _ := entry.(map[string]any)
		group, _ := names["group"].(string)
		version, _ := names["version"].(string)
		kind, _ := names["kind"].(string)
		kinds = append(kinds, api.GroupVersionKind{Group: group, Version: version, Kind: kind})
	}
	return kinds
}

// definition is a line of the recorded file: the published schema and what the Go type adds.
type definition struct {
	Name    string         `json:"name"`
	Schema  map[string]any `json:"schema"`
	Omitted []string       `json:"omitted"` // fields that are not encoded when empty
	Always  []string       `json:"always"`  // fields that are encoded even if empty
}

// goName returns the type in Go's notation: io.k8s.api.core.v1.PodSpec becomes v1.PodSpec.
func (d *definition) goName() string {
	parts := strings.Split(d.Name, ".")
	return strings.Join(parts[max(0, len(parts)-2):], ".")
}

// short returns the name without its package.
func (d *definition) short() string { return d.Name[strings.LastIndexByte(d.Name, '.')+1:] }

const referencePrefix = "#/components/schemas/"

// reference returns the name of the definition that a schema refers to, directly or through an
// allOf with one entry.
func reference(schema map[string]any) string {
	if all, ok := schema["allOf"].([]any); ok && len(all) == 1 {
		schema, _ = all[0].(map[string]any)
	}
	name, _ := schema["$ref"].(string)
	return strings.TrimPrefix(name, referencePrefix)
}

// recorded has one definition per line. It is written by upstream/apiserver/recorder.
//
//go:embed schemas.jsonl
var recorded []byte

var builtin = sync.OnceValue(func() *Set { return load(recorded) })

// Set is a collection of types. It is immutable. The zero value is empty.
type Set struct {
	definitions map[string]*definition // by published name
	types       map[string]*Type       // by published name
	kinds       map[api.GroupVersionKind]string
}

// Builtin returns the types of Kubernetes that the server serves. The first call takes some
// milliseconds to load them; every call returns the same set.
func Builtin() *Set { return builtin() }

// Type returns the type of the documents of a kind, and whether the set has it.
func (s *Set) Type(gvk api.GroupVersionKind) (*Type, bool) {
	t, ok := s.types[s.kinds[gvk]]
	return t, ok
}

const (
	objectMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
	listMetaName   = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"
	patchName      = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch"
)
