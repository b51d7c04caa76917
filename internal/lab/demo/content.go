package demo

import (
	"fmt"

	"orrery/internal/lab/apiserver/kubelet"
	"orrery/restclient/api"
)

// kind is a type of the content.
type kind struct {
	resource api.GroupVersionResource
	kind     string
	// prefix is the start of the names.
	prefix string
	// share is the percentage of this type.
	share int
	// fill adds the type's fields to object number i.
	fill func(o map[string]any, i int)
}

// Finalizer is the finalizer of some custom resources.
const Finalizer = "stable.example.com/backup"

// podGrace is the pods' terminationGracePeriodSeconds, Kubernetes' default. Their processes end
// after one second.
const podGrace = 30

// finalizers is the number of custom resources with a finalizer.
const finalizers = 3

// The places of two types in the content.
const (
	theConfigMaps = 1
	theCronTabs   = 9
)

// content is the content of the namespace, in the order of the bars.
var content = []kind{
	{core("pods"), "Pod", "web", 8, func(o map[string]any, _ int) {
		o["metadata"].(map[string]any)["annotations"] = map[string]any{kubelet.StopsAfter: "1s"}
		o["spec"] = map[string]any{
			"terminationGracePeriodSeconds": int64(podGrace),
			"containers":                    []any{map[string]any{"name": "web", "image": "shop/web:1"}},
		}
	}},
	{core("configmaps"), "ConfigMap", "settings", 22, func(o map[string]any, i int) {
		o["data"] = map[string]any{"page": fmt.Sprint(i)}
	}},
	{core("secrets"), "Secret", "password", 14, func(o map[string]any, i int) {
		o["stringData"] = map[string]any{"password": fmt.Sprintf("not-%d", i)}
	}},
	{core("serviceaccounts"), "ServiceAccount", "robot", 10, nil},
	{core("services"), "Service", "web", 9, func(o map[string]any, _ int) {
		o["spec"] = map[string]any{
			"selector": map[string]any{"app": "web"},
			"ports":    []any{map[string]any{"port": int64(80)}},
		}
	}},
	{core("events"), "Event", "started", 7, func(o map[string]any, i int) {
		o["involvedObject"] = map[string]any{"apiVersion": "v1", "kind": "Pod", "namespace": Namespace, "name": fmt.Sprintf("web-%d", i)}
		o["type"], o["reason"], o["message"] = "Normal", "Started", "the shop is open"
	}},
	{resource("coordination.k8s.io", "v1", "leases"), "Lease", "leader", 10, nil},
	{resource("rbac.authorization.k8s.io", "v1", "roles"), "Role", "reader", 8, func(o map[string]any, _ int) {
		o["rules"] = []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"configmaps"}, "verbs": []any{"get"}}}
	}},
	{resource("rbac.authorization.k8s.io", "v1", "rolebindings"), "RoleBinding", "reader", 8, func(o map[string]any, i int) {
		o["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": fmt.Sprintf("reader-%d", i)}
	}},
	{resource("stable.example.com", "v1", "crontabs"), "CronTab", "backup", 4, func(o map[string]any, i int) {
		o["spec"] = map[string]any{"cronSpec": "* * * * */5"}
		if i < finalizers {
			o["metadata"].(map[string]any)["finalizers"] = []any{Finalizer}
		}
	}},
}

// definition returns the CRD of the crontabs.
func definition() map[string]any {
	schema := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "crontabs.stable.example.com"},
		"spec": map[string]any{
			"group": "stable.example.com", "scope": "Namespaced",
			"names": map[string]any{"plural": "crontabs", "singular": "crontab", "kind": "CronTab", "listKind": "CronTabList", "shortNames": []any{"ct"}},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": schema},
			}},
		},
	}
}

// object returns object number i of a kind.
func (k kind) object(i int) *api.Unstructured {
	o := map[string]any{
		"apiVersion": api.GroupVersion{Group: k.resource.Group, Version: k.resource.Version}.String(), "kind": k.kind,
		"metadata": map[string]any{"name": k.name(i), "namespace": Namespace},
	}
	if k.fill != nil {
		k.fill(o, i)
	}
	return &api.Unstructured{Object: o}
}

// name returns the name of object number i.
func (k kind) name(i int) string { return fmt.Sprintf("%s-%d", k.prefix, i) }

// numbers divides objects among the kinds: at least one each, the remainder to the configmaps.
func numbers(objects int) []int {
	counts := make([]int, len(content))
	sum := 0
	for i, k := range content {
		counts[i] = max(1, objects*k.share/100)
		sum += counts[i]
	}
	counts[theConfigMaps] = max(1, counts[theConfigMaps]+objects-sum)
	return counts
}

func core(name string) api.GroupVersionResource { return resource("", "v1", name) }

func resource(group, version, name string) api.GroupVersionResource {
	return api.GroupVersionResource{Group: group, Version: version, Resource: name}
}
