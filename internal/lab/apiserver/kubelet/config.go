package kubelet

import (
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
)

// Config configures a [Kubelet]. Registry and Catalog are required.
type Config struct {
	Registry *registry.Registry
	Catalog  *resources.Catalog
	// Nodes is the number of nodes; 0 means 1. They are named orrery-node-1 and so on.
	Nodes int
	// Lost reports whether a node is unreachable. It is called once a second and before every
	// action on a node. Nil means never.
	Lost func(node string) bool
	// Stays reports whether a pod whose containers have ended cannot be torn down. It is called
	// once a second for such a pod. Nil means never.
	Stays func(namespace, name string) bool
}
