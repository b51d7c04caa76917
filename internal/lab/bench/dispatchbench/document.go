package dispatchbench

import (
	"fmt"
	"strings"
)

// document returns the JSON of a small pod as a server sends it, with a payload of the given size
// in an annotation. Heads are decoded from the same text. Every state is decoded from a document of
// its own, so that no two share memory that those from a server do not share.
func document(id Identity, payload int) []byte {
	annotations := ""
	if payload > 0 {
		annotations = fmt.Sprintf(`"annotations": {"orrery.example/payload": "%s"},`, strings.Repeat("x", payload))
	}
	return fmt.Appendf(nil, pod, id.Name, id.Namespace, id.ResourceVersion, annotations)
}

const pod = `{
	"apiVersion": "v1",
	"kind": "Pod",
	"metadata": {
		"name": "%s",
		"generateName": "web-7c5ddbdf54-",
		"namespace": "%s",
		"uid": "0f9d2c34-5a1b-4c1e-9d55-20b9bbf1a0e1",
		"resourceVersion": "%s",
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
