package resources

// leases is the resource leases of coordination.k8s.io.
func leases() *Definition {
	return &Definition{
		Group:  "coordination.k8s.io",
		Plural: "leases", Singular: "lease", Kind: "Lease",
		Namespaced: true,
	}
}
