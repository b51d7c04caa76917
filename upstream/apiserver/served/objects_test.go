package served_test

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

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
