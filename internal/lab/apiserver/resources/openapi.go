package resources

import (
	"cmp"
	"crypto/sha512"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"orrery/restclient/api"
)

// documentVersion is the Kubernetes version of the recorded types.
const documentVersion = "1.36"

// OpenAPIV3Index returns the document of /openapi/v3, which lists the documents of all groups and
// versions. Their URLs carry a SHA-512 hash, by which clients recognize a cached document.
func OpenAPIV3Index(groups []Group) []byte {
	paths := map[string]any{}
	for _, g := range groups {
		for _, v := range g.Versions {
			gv := api.GroupVersion{Group: g.Name, Version: v.Version}
			path := PathOf(gv)
			if document, described := OpenAPIV3(groups, gv); described {
				url := fmt.Sprintf("/openapi/v3/%s?hash=%X", path, sha512.Sum512(document))
				paths[path] = map[string]string{"serverRelativeURL": url}
			}
		}
	}
	return encode(map[string]any{"paths": paths})
}

// OpenAPIV3 returns the document of one group and version, and whether any resource that can be
// read belongs to it.
func OpenAPIV3(groups []Group, gv api.GroupVersion) ([]byte, bool) {
	paths, schemas := map[string]any{}, map[string]any{}
	for _, g := range groups {
		for _, v := range g.Versions {
			for _, d := range v.Definitions {
				if d.GroupVersion() == gv && !d.IsReview() {
					d.addPaths(paths)
					renderedTypes().collect(d, schemas)
				}
			}
		}
	}
	if len(paths) == 0 {
		return nil, false
	}
	return encode(map[string]any{
		"openapi":    "3.0.0",
		"info":       map[string]any{"title": "Kubernetes", "version": documentVersion},
		"paths":      paths,
		"components": map[string]any{"schemas": schemas},
	}), true
}

// addPaths adds the operations that kubectl looks for. kubectl explain finds the kind of a resource
// by a GET. kubectl apply learns from the PATCH the patch types, and whether there are dry runs and
// field validation.
func (d *Definition) addPaths(paths map[string]any) {
	collection := "/" + PathOf(d.GroupVersion())
	if d.Namespaced {
		collection += "/namespaces/{namespace}"
	}
	collection += "/" + d.Plural
	if d.HasVerb("list") {
		paths[collection] = map[string]any{"get": d.operation("list")}
	}
	object := map[string]any{}
	if d.HasVerb("get") {
		object["get"] = d.operation("get")
	}
	if d.HasVerb("patch") {
		patch, content := d.operation("patch"), map[string]any{}
		for _, patchType := range d.patches() {
			content[patchType] = map[string]any{"schema": referTo(patchName)}
		}
		patch["requestBody"] = map[string]any{"content": content, "required": true}
		var parameters []any
		for _, name := range []string{"dryRun", "fieldManager", "fieldValidation"} {
			text := map[string]any{"type": "string"}
			parameters = append(parameters, map[string]any{"name": name, "in": "query", "schema": text})
		}
		patch["parameters"] = parameters
		object["patch"] = patch
	}
	if len(object) > 0 {
		paths[collection+"/{name}"] = object
	}
}

func (d *Definition) operation(action string) map[string]any {
	return map[string]any{
		"x-kubernetes-action": action, gvkExtension: gvkMap(d.GVK()),
		"responses": map[string]any{"200": map[string]any{"description": "OK"}},
	}
}

func (d *Definition) patches() []string {
	types := []string{string(api.JSONPatchType), string(api.MergePatchType)}
	if !d.Custom {
		types = append(types, string(api.StrategicMergePatchType))
	}
	return types
}

// encode encodes a document. Keys are sorted, so that the same resources give the same bytes.
func encode(document any) []byte {
	data, err := json.Marshal(document)
	if err != nil {
		panic("schema: encoding a document: " + err.Error())
	}
	return data
}

//go:embed descriptions.txt
var descriptionsText string

// descriptions are our own descriptions of types and fields. Their keys are "Pod",
// "PodSpec.containers", or "*.spec" for any type.
var descriptions = sync.OnceValue(func() map[string]string {
	sentences := map[string]string{}
	for line := range strings.Lines(descriptionsText) {
		if name, sentence, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && !strings.HasPrefix(name, "#") {
			sentences[name] = sentence
		}
	}
	return sentences
})

// describe adds descriptions to the schema of a definition.
func (d *definition) describe() {
	sentences, name := descriptions(), d.short()
	if sentence := sentences[name]; sentence != "" {
		d.Schema["description"] = sentence
	}
	properties, _ := d.Schema["properties"].(map[string]any)
	for field, property := range properties {
		sentence := cmp.Or(sentences[name+"."+field], sentences["*."+field])
		if schema, ok := property.(map[string]any); ok && sentence != "" {
			schema["description"] = sentence
		}
	}
}

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
