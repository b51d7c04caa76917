package causes

import (
	"fmt"
	"net/http"
	"time"
)

// Together sets up several situations in one namespace, and returns when each has settled.
func Together(w *World, fixtures ...Fixture) {
	together(w, func(part *World, f Fixture) { sleep(f.settle())(part) }, fixtures)
}

// Empty creates an empty terminating namespace.
var Empty = stuck()

// Types creates an empty terminating namespace, on a server with so many types of its own.
func Types(w *World, count int) {
	stuck(each(count, func(i int) step {
		plural := fmt.Sprintf("type%ds", i)
		return create(definitions, `{"metadata":{"name":"`+plural+`.example.com"},
			"spec":{"group":"example.com","scope":"Namespaced",
			"names":{"plural":"`+plural+`","kind":"`+plural+`"},"versions":[{"name":"v1","served":true,"storage":true,
			"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	}), sleep(5*time.Second))(w)
}

// Many creates a terminating namespace with many terminating ConfigMaps.
func Many(w *World, count int) {
	stuck(each(count, func(i int) step { return configMap(fmt.Sprintf("c%d", i), unlisted) }), func(w *World) {
		w.do(http.MethodDelete, inNamespace+"/configmaps", "")
	})(w)
}

// Several creates the situation of C04 with two objects, and ten other namespaces that hang.
func Several(w *World) {
	stuck(operated(keda), managed(keda), create(keda.objects(), keda.body("more", keda.finalizer)), func(w *World) {
		w.do(http.MethodDelete, keda.objects(), "")
	})(w)
	for i := range 10 {
		Waiting(fmt.Sprintf("other-%02d", i))(w)
	}
}

// Waiting creates a terminating namespace with one object that a finalizer keeps.
func Waiting(namespace string) func(*World) {
	path := allNamespaces + "/" + namespace
	return then(ensure(namespace), create(path+"/configmaps", named("c", kept(unlisted))), remove(path))
}
