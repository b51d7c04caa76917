// Package rbac knows the least rights with which "orrery run" works.
//
// # Concept
//
// A controller that may do everything works everywhere, and nobody can tell what it needs. This package is the one place that says it:
// [Rights] lists what a run with certain flags asks of the API server, each right with its reason, and [Manifests] makes the roles and
// bindings of Kubernetes (RBAC, API group rbac.authorization.k8s.io) of them. "orrery rbac" prints these, deploy/rbac.yaml is their
// output, and the end-to-end tests run the controller with them.
//
//	cluster        namespaces, and list, delete and deletecollection of everything: that is what emptying a namespace means
//	kube-system    its own Lease
//	default        Events, as nothing can be created in a namespace that is being deleted
//
// # Guarantees
//
// With these rights everything works, and without any one verb of any one of them something does not: both is tested on a real API
// server, see upstream/e2e. A right that another one includes is left out: who may list everything may list namespaces. That a client may
// read /version, /readyz, /api and /apis is Kubernetes' own default for everybody who has logged in (system:discovery,
// system:public-info-viewer), and not repeated.
//
// A right is limited to one object by its name where Kubernetes can do that. It cannot for create, as a request to create has no name
// that the authorizer sees.
//
// # Goroutines
//
// None.
//
// # Failure
//
// Writing fails when the writer does. There is nothing else that could.
//
// # Testing
//
// Here the form is tested, and that deploy/rbac.yaml is up to date; that the rights are enough and none is superfluous in upstream/e2e.
//
// Next: package events
package rbac
