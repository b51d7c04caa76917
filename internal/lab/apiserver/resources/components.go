package resources

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"orrery/restclient/api"
)

// rendered are the encoded definitions of the built-in types with our descriptions. All documents
// share them.
type rendered struct {
	schemas map[string]json.RawMessage
	refers  map[string][]string // the definitions that a definition refers to
}

var renderedTypes = sync.OnceValue(func() *rendered {
	out := &rendered{schemas: map[string]json.RawMessage{}, refers: map[string][]string{}}
	for name, d := range Builtin().definitions {
		d.describe()
		out.schemas[name] = encode(d.Schema)
		out.refers[name] = referred(d.Schema)
	}
	return out
})

// collect adds the schemas that the operations of a resource refer to, directly and indirectly.
func (to *rendered) collect(r *Resource, s *Set, out map[string]any) {
	roots := []string{patchName, listMetaName, objectMetaName}
	if r.isCustom(s) {
		out[r.definitionName(s)] = r.customSchema()
		out[r.listName(s)] = r.customList(s)
	} else {
		roots = append(roots, r.definitionName(s), r.listName(s))
	}
	for len(roots) > 0 {
		name := roots[len(roots)-1]
		roots = roots[:len(roots)-1]
		schema, known := to.schemas[name]
		if _, done := out[name]; done || !known {
			continue
		}
		out[name] = schema
		roots = append(roots, to.refers[name]...)
	}
}

// referred returns the names of the definitions that a schema refers to.
func referred(value any) []string {
	var names []string
	switch v := value.(type) {
	case map[string]any:
		if name, ok := v["$ref"].(string); ok {
			names = append(names, strings.TrimPrefix(name, referencePrefix))
		}
		for _, inner := range v {
			names = append(names, referred(inner)...)
		}
	case []any:
		for _, inner := range v {
			names = append(names, referred(inner)...)
		}
	}
	return names
}

func (r *Resource) isCustom(s *Set) bool {
	_, known := s.kinds[r.GVK]
	return r.Custom || !known
}

// definitionName returns the name of the schema of the resource's objects. For a custom resource it
// starts with the reversed group: com.example.stable.v1.CronTab.
func (r *Resource) definitionName(s *Set) string {
	if !r.isCustom(s) {
		return s.kinds[r.GVK]
	}
	words := strings.Split(r.GVK.Group, ".")
	slices.Reverse(words)
	return strings.Join(append(words, r.GVK.Version, r.GVK.Kind), ".")
}

func (r *Resource) listName(s *Set) string {
	if r.isCustom(s) {
		return r.definitionName(s) + "List"
	}
	return s.kinds[api.GroupVersionKind{Group: r.GVK.Group, Version: r.GVK.Version, Kind: r.GVK.Kind + "List"}]
}

// customSchema returns the user's schema with the standard fields added.
func (r *Resource) customSchema() map[string]any {
	out, properties := map[string]any{"type": "object"}, map[string]any{}
	maps.Copy(out, r.Schema)
	own, _ := r.Schema["properties"].(map[string]any)
	maps.Copy(properties, own)
	addStandard(properties, objectMetaName)
	out["properties"] = properties
	out[gvkExtension] = []any{gvkMap(r.GVK)}
	return out
}

func (r *Resource) customList(s *Set) map[string]any {
	properties := map[string]any{"items": map[string]any{"type": "array", "items": referTo(r.definitionName(s)),
		"description": descriptions()["*.items"]}}
	addStandard(properties, listMetaName)
	gvk := r.GVK
	gvk.Kind += "List"
	return map[string]any{"type": "object", "required": []any{"items"}, "properties": properties, gvkExtension: []any{gvkMap(gvk)}}
}

// addStandard adds the fields that every document has.
func addStandard(properties map[string]any, metadata string) {
	for _, field := range []string{"kind", "apiVersion"} {
		properties[field] = map[string]any{"type": "string", "description": descriptions()["*."+field]}
	}
	properties["metadata"] = map[string]any{"allOf": []any{referTo(metadata)}, "description": descriptions()["*.metadata"]}
}

func referTo(name string) map[string]any { return map[string]any{"$ref": referencePrefix + name} }

// gvkExtension is the extension that names the kind of a schema or operation.
const gvkExtension = "x-kubernetes-group-version-kind"

func gvkMap(gvk api.GroupVersionKind) map[string]any {
	return map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}
}
