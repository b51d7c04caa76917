package resources

// clusterRoles is the resource clusterroles of rbac.authorization.k8s.io.
func clusterRoles() *Definition {
	return &Definition{
		Group:  "rbac.authorization.k8s.io",
		Plural: "clusterroles", Singular: "clusterrole", Kind: "ClusterRole",
	}
}
