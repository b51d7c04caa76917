package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"orrery/upstream/controlplane"
)

// definition is a line of the file.
type definition struct {
	Name   string         `json:"name"`
	Schema map[string]any `json:"schema"`
	// Omitted are the fields with omitempty and an empty value other than nil: "", 0, false, an
	// empty list or map.
	Omitted []string `json:"omitted,omitempty"`
	// Always are the fields that are always written.
	Always []string `json:"always,omitempty"`
}

func newDefinition(name string, schema map[string]any, t reflect.Type) definition {
	d := definition{Name: name, Schema: schema}
	properties, _ := schema["properties"].(map[string]any)
	if t == nil || t.Kind() != reflect.Struct || properties == nil {
		return d
	}
	d.add(t, properties)
	return d
}

func (d *definition) add(t reflect.Type, properties map[string]any) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			d.add(field.Type, properties)
			continue
		}
		if _, published := properties[name]; !published || name == "kind" || name == "apiVersion" {
			continue
		}
		if strings.Contains(options, "omitempty") && vanishes(field.Type) {
			d.Omitted = append(d.Omitted, name)
		}
		if !strings.Contains(options, "omitzero") &&
			(!strings.Contains(options, "omitempty") || field.Type.Kind() == reflect.Struct) {
			d.Always = append(d.Always, name)
		}
	}
}

// vanishes reports whether a type has an empty value that encoding/json omits.
func vanishes(t reflect.Type) bool { return t.Kind() != reflect.Pointer && t.Kind() != reflect.Struct }

// dropped are the members of a schema that are not recorded: texts, and values that our server's
// code sets.
var dropped = map[string]bool{"description": true, "default": true, "title": true, "externalDocs": true,
	"example": true}

// strip removes what is not needed from a schema. Property names are not members: a field called
// "description" stays.
func strip(value any) any {
	schema, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := make(map[string]any, len(schema))
	for key, inner := range schema {
		switch {
		case dropped[key]:
		case key == "properties":
			out[key] = stripEach(inner)
		case key == "items", key == "additionalProperties", key == "not":
			out[key] = strip(inner)
		case key == "allOf", key == "oneOf", key == "anyOf":
			out[key] = stripEach(inner)
		default:
			out[key] = inner
		}
	}
	return out
}

func stripEach(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = strip(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = strip(inner)
		}
	}
	return value
}

const referencePrefix = "#/components/schemas/"

// otherTypes are the types outside discovery: bodies of subresources, and common answers.
var otherTypes = []string{
	"io.k8s.api.autoscaling.v1.Scale", "io.k8s.api.authentication.v1.TokenRequest", "io.k8s.api.policy.v1.Eviction",
	"io.k8s.apimachinery.pkg.apis.meta.v1.Status", "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
	"io.k8s.apimachinery.pkg.apis.meta.v1.Patch", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
	"io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent",
}

// publishedRoots returns the published types of the resources, with their lists, and the others.
func publishedRoots(published map[string]any, all []resource) []string {
	kinds := map[schema.GroupVersionKind]bool{}
	for _, r := range all {
		kinds[schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}] = true
		kinds[schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind + "List"}] = true
	}
	names := slices.Clone(otherTypes)
	for name, definition := range published {
		if gvk, ok := kindOf(definition); ok && kinds[gvk] {
			names = append(names, name)
		}
	}
	return names
}

// kindOf returns the kind of a definition. Shared types have several.
func kindOf(definition any) (schema.GroupVersionKind, bool) {
	d, _ := definition.(map[string]any)
	kinds, _ := d["x-kubernetes-group-version-kind"].([]any)
	if len(kinds) != 1 {
		return schema.GroupVersionKind{}, false
	}
	kind, _ := kinds[0].(map[string]any)
	text := func(key string) string { s, _ := kind[key].(string); return s }
	return schema.GroupVersionKind{Group: text("group"), Version: text("version"), Kind: text("kind")}, true
}

// knownTypes returns the types of client-go and of the servers beside it.
func knownTypes() *runtime.Scheme {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensions.AddToScheme,
		apiregistration.AddToScheme} {
		if err := add(known); err != nil {
			panic(err) // a programming error in this file
		}
	}
	return known
}

// goTypes returns the structs of the published types by published name.
func goTypes() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, t := range knownTypes().AllKnownTypes() {
		collect(types, t)
	}
	return types
}

func collect(types map[string]reflect.Type, t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		collect(types, t.Elem())
	case reflect.Struct:
		name := publishedName(t)
		if name == "" || types[name] != nil {
			return
		}
		types[name] = t
		for i := range t.NumField() {
			collect(types, t.Field(i).Type)
		}
	}
}

// publishedName returns a Go type's name in the OpenAPI documents.
func publishedName(t reflect.Type) string {
	path, ok := strings.CutPrefix(t.PkgPath(), "k8s.io/")
	if !ok {
		return ""
	}
	return "io.k8s." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

// recordSchema records Kubernetes' types: their fields, as the server publishes them at
// /openapi/v3, without descriptions.
//
// It writes resources/schemas.jsonl, one definition a line in alphabetical order, and
// resources/builtin.jsonl, one resource a line in the order of discovery: names, verbs,
// subresources and columns. The output depends on the version of Kubernetes alone.
func recordSchema(ctx context.Context, _ order) error {
	s, err := start(ctx, controlplane.Config{})
	if err != nil {
		return err
	}
	defer s.Stop()
	all, err := s.resources(ctx)
	if err != nil {
		return err
	}
	published, err := s.schemas(ctx, all)
	if err != nil {
		return err
	}
	kept, err := closure(published, publishedRoots(published, all))
	if err != nil {
		return err
	}
	declared := goTypes()
	var definitions []definition
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		definitions = append(definitions, newDefinition(name, kept[name], declared[name]))
	}
	if err := writeLines(filepath.Join(root, "resources", "schemas.jsonl"), definitions); err != nil {
		return err
	}
	return writeLines(filepath.Join(root, "resources", "builtin.jsonl"), all)
}

// schemas reads the definitions of every group and version of the server's types.
func (s server) schemas(ctx context.Context, served []resource) (map[string]any, error) {
	all, read := map[string]any{}, map[string]bool{}
	for _, r := range served {
		path := r.document()
		if read[path] {
			continue
		}
		read[path] = true
		var document struct {
			Components struct {
				Schemas map[string]any `json:"schemas"`
			} `json:"components"`
		}
		if err := s.get(ctx, "/openapi/v3/"+path, acceptJSON, &document); err != nil {
			return nil, err
		}
		for name, schema := range document.Components.Schemas {
			// The documents of several groups have the shared types, each with its own group's
			// kinds.
			if _, known := all[name]; !known {
				all[name] = strip(schema)
			}
		}
	}
	return all, nil
}

// closure returns the roots and the definitions that they refer to.
func closure(published map[string]any, roots []string) (map[string]map[string]any, error) {
	kept := map[string]map[string]any{}
	for todo := roots; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		if kept[name] != nil {
			continue
		}
		schema, ok := published[name].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("the server does not publish %s", name)
		}
		kept[name] = schema
		todo = append(todo, references(schema)...)
	}
	return kept, nil
}

func references(value any) []string {
	var names []string
	switch v := value.(type) {
	case map[string]any:
		if reference, ok := v["$ref"].(string); ok {
			names = append(names, strings.TrimPrefix(reference, referencePrefix))
		}
		for _, inner := range v {
			names = append(names, references(inner)...)
		}
	case []any:
		for _, inner := range v {
			names = append(names, references(inner)...)
		}
	}
	return names
}
