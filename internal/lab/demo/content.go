package demo

import (
	"bytes"
	"embed"
	"encoding/json"
	"strconv"

	"go.yaml.in/yaml/v3"

	"orrery/restclient/api"
)

// kind is a type of the content.
type kind struct {
	// Resource is the name of the resource, Share the percentage of this type.
	Resource string
	Share    int
	// Object is the template of the objects: {i} is the number of an object.
	Object api.Unstructured
}

// finalizers is the number of custom resources with a finalizer.
const finalizers = 3

// The places of two types in the content.
const (
	theConfigMaps = 1
	theCronTabs   = 9
)

//go:embed manifests
var manifests embed.FS

// content is the content of the namespace, in the order of the bars.
var content = decoded[[]kind](file("content.yaml"))

func file(name string) []byte {
	text, err := manifests.ReadFile("manifests/" + name)
	if err != nil {
		panic(err) // the files are part of the program
	}
	return text
}

// decoded decodes YAML by the rules of JSON. The YAML is part of the program.
func decoded[T any](text []byte) (value T) {
	var document any
	err := yaml.Unmarshal(text, &document)
	if err == nil {
		text, err = json.Marshal(document)
	}
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		panic(err)
	}
	return value
}

// object returns object number i of a kind.
func (k kind) object(i int) *api.Unstructured {
	text, _ := k.Object.MarshalJSON() // it was JSON
	object := &api.Unstructured{}
	_ = object.UnmarshalJSON(bytes.ReplaceAll(text, []byte("{i}"), strconv.AppendInt(nil, int64(i), 10)))
	if i >= finalizers {
		object.RemoveNested("metadata", "finalizers")
	}
	return object
}

// gvr returns the type's resource.
func (k kind) gvr() api.GroupVersionResource {
	gv, _ := api.ParseGroupVersion(k.Object.GetAPIVersion()) // the manifest has one
	return gv.WithResource(k.Resource)
}

// numbers divides objects among the kinds: at least one each, the remainder to the configmaps.
func numbers(objects int) []int {
	counts := make([]int, len(content))
	sum := 0
	for i, k := range content {
		counts[i] = max(1, objects*k.Share/100)
		sum += counts[i]
	}
	counts[theConfigMaps] += objects - sum
	return counts
}

func resource(group, version, name string) api.GroupVersionResource {
	return api.GroupVersionResource{Group: group, Version: version, Resource: name}
}

var configMaps = resource("", "v1", "configmaps")
