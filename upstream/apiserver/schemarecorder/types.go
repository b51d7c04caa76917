package main

import (
	"reflect"
	"slices"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

const referencePrefix = "#/components/schemas/"

// others are the types outside discovery: bodies of subresources, and common answers.
var others = []string{
	"io.k8s.api.autoscaling.v1.Scale", "io.k8s.api.authentication.v1.TokenRequest", "io.k8s.api.policy.v1.Eviction",
	"io.k8s.apimachinery.pkg.apis.meta.v1.Status", "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
	"io.k8s.apimachinery.pkg.apis.meta.v1.Patch", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
	"io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent",
}

// roots returns the published types of the resources, with their lists, and the others.
func roots(published map[string]any, all []resource) []string {
	kinds := map[schema.GroupVersionKind]bool{}
	for _, r := range all {
		kinds[schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}] = true
		kinds[schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind + "List"}] = true
	}
	names := slices.Clone(others)
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

// goTypes returns the structs of the published types by published name.
func goTypes() map[string]reflect.Type {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme} {
		if err := add(known); err != nil {
			panic(err) // a programming error in this file
		}
	}
	types := map[string]reflect.Type{}
	for _, t := range known.AllKnownTypes() {
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

// plain returns a configuration for reading documents.
func plain(config *rest.Config) *rest.Config {
	c := rest.CopyConfig(config)
	c.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme())
	return c
}
