package resources

import (
	"cmp"
	"crypto/sha512"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"orrery/restclient/api"
)

// Resource is what the OpenAPI documents need to know about a served resource.
type Resource struct {
	GVK        api.GroupVersionKind
	Plural     string
	Namespaced bool
	// Verbs are get, list, watch, create, update, patch, delete, deletecollection. Nil means all.
	Verbs []string
	// Custom reports that the resource comes from a CustomResourceDefinition. Schema is its
	// openAPIV3Schema, if any.
	Custom bool
	Schema map[string]any
}

// documentVersion is the Kubernetes version of the recorded types.
const documentVersion = "1.36"

// OpenAPIV3Index returns the document of /openapi/v3, which lists the documents of all groups and
// versions. Their URLs carry a SHA-512 hash, by which clients recognize a cached document.
func OpenAPIV3Index(resources []Resource) []byte {
	paths := map[string]any{}
	for _, gv := range groupVersions(resources) {
		document, _ := OpenAPIV3(resources, gv)
		path := "apis/" + gv.String()
		if gv.Group == "" {
			path = "api/" + gv.Version
		}
		paths[path] = map[string]any{"serverRelativeURL": fmt.Sprintf("/openapi/v3/%s?hash=%X", path, sha512.Sum512(document))}
	}
	return encode(map[string]any{"paths": paths})
}

func groupVersions(resources []Resource) []api.GroupVersion {
	var all []api.GroupVersion
	for _, r := range resources {
		all = append(all, api.GroupVersion{Group: r.GVK.Group, Version: r.GVK.Version})
	}
	slices.SortFunc(all, func(a, b api.GroupVersion) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Version, b.Version))
	})
	return slices.Compact(all)
}

// OpenAPIV3 returns the document of one group and version, and whether any resource belongs to it.
func OpenAPIV3(resources []Resource, gv api.GroupVersion) ([]byte, bool) {
	paths, schemas := map[string]any{}, map[string]any{}
	for _, r := range resources {
		if r.GVK.Group != gv.Group || r.GVK.Version != gv.Version {
			continue
		}
		r.addPaths(paths)
		renderedTypes().collect(&r, Builtin(), schemas)
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
func (r *Resource) addPaths(paths map[string]any) {
	collection := "/apis/" + r.GVK.Group + "/" + r.GVK.Version
	if r.GVK.Group == "" {
		collection = "/api/" + r.GVK.Version
	}
	if r.Namespaced {
		collection += "/namespaces/{namespace}"
	}
	collection += "/" + r.Plural
	if r.has("list") {
		paths[collection] = map[string]any{"get": r.operation("list")}
	}
	object := map[string]any{}
	if r.has("get") {
		object["get"] = r.operation("get")
	}
	if r.has("patch") {
		patch, content := r.operation("patch"), map[string]any{}
		for _, patchType := range r.patches() {
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

func (r *Resource) operation(action string) map[string]any {
	return map[string]any{
		"x-kubernetes-action": action, gvkExtension: gvkMap(r.GVK),
		"responses": map[string]any{"200": map[string]any{"description": "OK"}},
	}
}

func (r *Resource) has(verb string) bool { return r.Verbs == nil || slices.Contains(r.Verbs, verb) }

func (r *Resource) patches() []string {
	types := []string{string(api.JSONPatchType), string(api.MergePatchType)}
	if !r.Custom {
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
	sentences, name := descriptions(), d.goName()
	name = name[strings.LastIndexByte(name, '.')+1:]
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
