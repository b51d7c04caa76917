package resources

// clusterRoleBindings is the resource clusterrolebindings of rbac.authorization.k8s.io.
func clusterRoleBindings() *Definition {
	return &Definition{
		Group:  "rbac.authorization.k8s.io",
		Plural: "clusterrolebindings", Singular: "clusterrolebinding", Kind: "ClusterRoleBinding",
	}
}
