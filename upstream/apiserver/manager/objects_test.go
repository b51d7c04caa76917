package manager_test

import (
	"strings"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// defineType adds a custom type in a group of its own.
func (c *cluster) defineType(group string) schema.GroupVersionResource {
	c.t.Helper()
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "widgets." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "kind": "Widget"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "x-kubernetes-preserve-unknown-fields": true,
				}},
			}},
		},
	}}
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	_, err := c.dynamic.Resource(definitions).Create(c.ctx, definition, metav1.CreateOptions{})
	require.NoError(c.t, err)
	resource := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}
	c.eventually("widgets are served", func() (bool, error) {
		_, err := c.dynamic.Resource(resource).List(c.ctx, metav1.ListOptions{})
		return err == nil, err
	})
	return resource
}

func object(apiVersion, kind, name string, finalizers ...string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(name)
	o.SetFinalizers(finalizers)
	return o
}

func configMap(name string, finalizers ...string) *unstructured.Unstructured {
	return object("v1", "ConfigMap", name, finalizers...)
}

func widget(resource schema.GroupVersionResource, name string, finalizers ...string) *unstructured.Unstructured {
	return object(resource.GroupVersion().String(), "Widget", name, finalizers...)
}

// fillWithEveryType creates an object of every discovered type.
func (c *cluster) fillWithEveryType(namespace string) {
	c.t.Helper()
	for resource, found := range c.listable() {
		if strings.HasSuffix(resource.Group, "example.com") && resource.Group != namespace+".example.com" {
			continue // another test's, which may be removed
		}
		o := object(resource.GroupVersion().String(), found.Kind, "one-of-each")
		for field, value := range required(found.Kind) {
			o.Object[field] = value
		}
		c.create(resource, namespace, o)
	}
}

// required returns the required fields of a kind.
func required(kind string) map[string]any {
	selected := map[string]any{"app": "one-of-each"}
	pod := map[string]any{"terminationGracePeriodSeconds": int64(1), "containers": []any{map[string]any{"name": "main", "image": "example.com/pretended"}}}
	workload := map[string]any{
		"selector": map[string]any{"matchLabels": selected},
		"template": map[string]any{"metadata": map[string]any{"labels": selected}, "spec": pod},
	}
	switch kind {
	case "Pod":
		return map[string]any{"spec": pod}
	case "Deployment", "ReplicaSet":
		return map[string]any{"spec": workload}
	case "Service":
		return map[string]any{"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}}
	case "PersistentVolumeClaim":
		return map[string]any{"spec": map[string]any{
			"accessModes": []any{"ReadWriteOnce"},
			"resources":   map[string]any{"requests": map[string]any{"storage": "1Gi"}},
		}}
	case "Event":
		return map[string]any{
			"involvedObject": map[string]any{"kind": "Pod", "name": "one-of-each", "namespace": "full"},
			"metadata":       map[string]any{"name": "one-of-each", "namespace": "full"},
		}
	case "RoleBinding":
		return map[string]any{"roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "one-of-each"}}
	case "LimitRange":
		return map[string]any{"spec": map[string]any{"limits": []any{}}}
	default:
		return nil
	}
}
