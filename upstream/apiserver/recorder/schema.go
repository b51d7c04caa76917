package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"orrery/upstream/controlplane"
)

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
