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
func (to *rendered) collect(d *Definition, s *Set, out map[string]any) {
	roots := []string{patchName, listMetaName, objectMetaName}
	if d.isCustom(s) {
		out[d.definitionName(s)] = d.customSchema()
		out[d.listName(s)] = d.customList(s)
	} else {
		roots = append(roots, d.definitionName(s), d.listName(s))
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

func (d *Definition) isCustom(s *Set) bool {
	_, known := s.kinds[d.GVK()]
	return d.Custom || !known
}

// definitionName returns the name of the schema of the resource's objects. For a custom resource it
// starts with the reversed group: com.example.stable.v1.CronTab.
func (d *Definition) definitionName(s *Set) string {
	if !d.isCustom(s) {
		return s.kinds[d.GVK()]
	}
	words := strings.Split(d.Group, ".")
	slices.Reverse(words)
	return strings.Join(append(words, d.Version, d.Kind), ".")
}

func (d *Definition) listName(s *Set) string {
	if d.isCustom(s) {
		return d.definitionName(s) + "List"
	}
	return s.kinds[api.GroupVersionKind{Group: d.Group, Version: d.Version, Kind: d.Kind + "List"}]
}

// customSchema returns the user's schema with the standard fields added.
func (d *Definition) customSchema() map[string]any {
	out, properties := map[string]any{"type": "object"}, map[string]any{}
	maps.Copy(out, d.Schema)
	own, _ := d.Schema["properties"].(map[string]any)
	maps.Copy(properties, own)
	addStandard(properties, objectMetaName)
	out["properties"] = properties
	out[gvkExtension] = []any{gvkMap(d.GVK())}
	return out
}

func (d *Definition) customList(s *Set) map[string]any {
	properties := map[string]any{"items": map[string]any{"type": "array", "items": referTo(d.definitionName(s)),
		"description": descriptions()["*.items"]}}
	addStandard(properties, listMetaName)
	gvk := d.GVK()
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
