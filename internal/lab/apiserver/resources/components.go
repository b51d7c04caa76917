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
func (to *rendered) collect(d *Definition, out map[string]any) {
	roots := []string{patchName, listMetaName, objectMetaName}
	if d.Custom {
		out[d.definitionName()] = d.customSchema()
		out[d.listName()] = d.customList()
	} else {
		roots = append(roots, d.definitionName(), d.listName())
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

// definitionName returns the name of the schema of the resource's objects. For a custom resource it
// starts with the reversed group: com.example.stable.v1.CronTab.
func (d *Definition) definitionName() string {
	if !d.Custom {
		return Builtin().kinds[d.GVK()]
	}
	words := strings.Split(d.Group, ".")
	slices.Reverse(words)
	return strings.Join(append(words, d.Version, d.Kind), ".")
}

func (d *Definition) listName() string {
	if d.Custom {
		return d.definitionName() + "List"
	}
	return Builtin().kinds[api.GroupVersionKind{Group: d.Group, Version: d.Version, Kind: d.Kind + "List"}]
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

func (d *Definition) customList() map[string]any {
	properties := map[string]any{"items": map[string]any{"type": "array", "items": referTo(d.definitionName()),
		"description": descriptions()["*.items"]}}
	addStandard(properties, listMetaName)
	gvk := d.GVK()
	gvk.Kind += "List"
	return map[string]any{"type": "object", "required": []any{"items"}, "properties": properties,
		gvkExtension: []any{gvkMap(gvk)}}
}

// addStandard adds the fields that every document has.
func addStandard(properties map[string]any, metadata string) {
	for _, field := range []string{"kind", "apiVersion"} {
		properties[field] = map[string]any{"type": "string", "description": descriptions()["*."+field]}
	}
	properties["metadata"] = map[string]any{"allOf": []any{referTo(metadata)},
		"description": descriptions()["*.metadata"]}
}

func referTo(name string) map[string]any { return map[string]any{"$ref": referencePrefix + name} }

// gvkExtension is the extension that names the kind of a schema or operation.
const gvkExtension = "x-kubernetes-group-version-kind"

func gvkMap(gvk api.GroupVersionKind) map[string]any {
	return map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}
}
