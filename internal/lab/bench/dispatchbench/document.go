package dispatchbench

import (
	"fmt"
	"reflect"
	"strings"
)

// document returns the JSON of a small pod as a server sends it, with a payload of the given size
// in an annotation. Heads are decoded from the same text.
func document(payload int) []byte {
	annotations := ""
	if payload > 0 {
		annotations = fmt.Sprintf(`"annotations": {"orrery.example/payload": "%s"},`, strings.Repeat("x", payload))
	}
	return fmt.Appendf(nil, pod, annotations)
}

const pod = `{
	"apiVersion": "v1",
	"kind": "Pod",
	"metadata": {
		"name": "web-7c5ddbdf54-00000",
		"generateName": "web-7c5ddbdf54-",
		"namespace": "namespace-000",
		"uid": "0f9d2c34-5a1b-4c1e-9d55-20b9bbf1a0e1",
		"resourceVersion": "1000000",
		"creationTimestamp": "2026-01-02T03:04:05Z",
		%s
		"labels": {"app": "web", "pod-template-hash": "7c5ddbdf54"},
		"ownerReferences": [{
			"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7c5ddbdf54",
			"uid": "9a1f4f0e-7b0e-4c8f-8a51-63a0f5f2d0aa", "controller": true, "blockOwnerDeletion": true
		}]
	},
	"spec": {
		"nodeName": "node-017",
		"restartPolicy": "Always",
		"serviceAccountName": "default",
		"terminationGracePeriodSeconds": 30,
		"containers": [{"name": "web", "image": "registry.example/web:1.17.3"}]
	},
	"status": {"phase": "Running", "podIP": "10.0.17.4", "startTime": "2026-01-02T03:04:07Z"}
}`

// Clone returns a copy of v that shares no memory with it, strings included, as if both had been
// decoded separately. (An API type's DeepCopy shares strings.) Unexported fields are copied
// shallowly.
func Clone[T any](v T) T {
	out := reflect.New(reflect.TypeFor[T]()).Elem()
	out.Set(reflect.ValueOf(&v).Elem())
	detach(out)
	return out.Interface().(T)
}

// detach replaces everything v refers to with copies.
func detach(v reflect.Value) {
	if !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Clone(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			copied := reflect.New(v.Type().Elem())
			copied.Elem().Set(v.Elem())
			detach(copied.Elem())
			v.Set(copied)
		}
	case reflect.Slice:
		if !v.IsNil() {
			copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(copied, v)
			for i := range copied.Len() {
				detach(copied.Index(i))
			}
			v.Set(copied)
		}
	case reflect.Map:
		if !v.IsNil() {
			v.Set(clonedMap(v))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			detach(v.Field(i))
		}
	}
}

func clonedMap(v reflect.Value) reflect.Value {
	out := reflect.MakeMapWithSize(v.Type(), v.Len())
	entry := func(of reflect.Value) reflect.Value {
		copied := reflect.New(of.Type()).Elem()
		copied.Set(of)
		detach(copied)
		return copied
	}
	for entries := v.MapRange(); entries.Next(); {
		out.SetMapIndex(entry(entries.Key()), entry(entries.Value()))
	}
	return out
}
