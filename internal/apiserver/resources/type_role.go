package resources

// roles is the resource roles of rbac.authorization.k8s.io.
func roles() *Definition {
	return &Definition{
		Group:  "rbac.authorization.k8s.io",
		Plural: "roles", Singular: "role", Kind: "Role",
		Namespaced: true,
	}
}
