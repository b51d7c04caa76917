package resources

// customResourceDefinitions is the resource customresourcedefinitions of apiextensions.k8s.io.
func customResourceDefinitions() *Definition {
	return &Definition{
		Group:  "apiextensions.k8s.io",
		Plural: "customresourcedefinitions", Singular: "customresourcedefinition", Kind: "CustomResourceDefinition",
		ShortNames: []string{"crd", "crds"}, Categories: []string{"api-extensions"}, Status: true,
	}
}
