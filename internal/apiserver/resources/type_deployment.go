package resources

// deployments is the resource deployments of apps.
func deployments() *Definition {
	return &Definition{
		Group:  "apps",
		Plural: "deployments", Singular: "deployment", Kind: "Deployment",
		ShortNames: []string{"deploy"}, Categories: []string{"all"}, Namespaced: true, Status: true, Scale: true,
	}
}
