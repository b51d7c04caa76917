package resources

// roleBindings is the resource rolebindings of rbac.authorization.k8s.io.
func roleBindings() *Definition {
	return &Definition{
		Group:  "rbac.authorization.k8s.io",
		Plural: "rolebindings", Singular: "rolebinding", Kind: "RoleBinding",
		Namespaced: true,
	}
}
