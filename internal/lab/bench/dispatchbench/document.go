package dispatchbench

import (
	"encoding/json"
	"strings"
)

// document returns the JSON of a small pod as a server sends it, with a payload of the given size
// in an annotation. Heads are decoded from the same text.
func document(payload int) []byte {
	metadata := map[string]any{
		"name":              "web-7c5ddbdf54-00000",
		"generateName":      "web-7c5ddbdf54-",
		"namespace":         "namespace-000",
		"uid":               "0f9d2c34-5a1b-4c1e-9d55-20b9bbf1a0e1",
		"resourceVersion":   "1000000",
		"creationTimestamp": "2026-01-02T03:04:05Z",
		"labels":            map[string]string{"app": "web", "pod-template-hash": "7c5ddbdf54"},
		"ownerReferences": []map[string]any{{
			"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7c5ddbdf54",
			"uid": "9a1f4f0e-7b0e-4c8f-8a51-63a0f5f2d0aa", "controller": true, "blockOwnerDeletion": true,
		}},
	}
	if payload > 0 {
		metadata["annotations"] = map[string]string{"orrery.example/payload": strings.Repeat("x", payload)}
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1",
		"kind":       "Pod",
		"metadata":   metadata,
		"spec": map[string]any{
			"nodeName":                      "node-017",
			"restartPolicy":                 "Always",
			"serviceAccountName":            "default",
			"terminationGracePeriodSeconds": 30,
			"containers":                    []map[string]any{{"name": "web", "image": "registry.example/web:1.17.3"}},
		},
		"status": map[string]any{
			"phase":     "Running",
			"podIP":     "10.0.17.4",
			"startTime": "2026-01-02T03:04:07Z",
		},
	})
	if err != nil {
		panic(err) // cannot fail: the fields are strings
	}
	return text
}
