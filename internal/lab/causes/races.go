package causes

import (
	"fmt"
	"net/http"
)

// Orphans creates a terminating namespace with scaled objects whose operator is gone, all of them
// terminating. No namespace controller need run.
func Orphans(w *World, count int) {
	w.operated(keda)
	for i := range count {
		w.managed(keda, fmt.Sprintf("o%03d", i))
	}
	w.do(http.MethodDelete, keda.objects(), "")
	w.terminate()
}

// OrphanBehindPods creates a terminating namespace with a pod that a finalizer keeps, and a scaled
// object that is deleted only after it, whose operator is gone.
func OrphanBehindPods(w *World) {
	w.operated(keda)
	w.managed(keda, "orders")
	w.stopped("kube-system", "kueue-controller-manager")
	w.pod("a", `"finalizers":["kueue.x-k8s.io/managed"]`, `"terminationGracePeriodSeconds":5`)
	w.terminate()
}

// Several creates the situation of C04 in the namespace, and others terminating with one ConfigMap
// each, which a finalizer of an unknown owner keeps.
func Several(w *World, others int) {
	Orphans(w, 2)
	for i := range others {
		Waiting(w, fmt.Sprintf("other-%02d", i))
	}
}

// Waiting creates a terminating namespace with one object that a finalizer keeps.
func Waiting(w *World, namespace string) {
	w.create("/api/v1/namespaces", `{"metadata":{"name":"`+namespace+`"}}`)
	w.create("/api/v1/namespaces/"+namespace+"/configmaps", `{"metadata":{"name":"c","finalizers":["example.com/x"]}}`)
	w.delete("/api/v1/namespaces/" + namespace)
}

// Audited creates an empty terminating namespace with a finalizer of its own, and the condition of
// a controller that saw it. No namespace controller need run.
func Audited(w *World) {
	w.namespace("example.com/audit")
	w.terminate()
	w.patch("/api/v1/namespaces/"+Namespace+"/status", `{"status":{"conditions":[{"type":"NamespaceContentRemaining","status":"False",
		"reason":"ContentRemoved","message":"All content successfully removed","lastTransitionTime":"2000-01-01T00:00:00Z"}]}}`)
}
