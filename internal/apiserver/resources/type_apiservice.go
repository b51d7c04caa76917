package resources

// apiServices is the resource apiservices of apiregistration.k8s.io.
func apiServices() *Definition {
	return &Definition{
		Group:  "apiregistration.k8s.io",
		Plural: "apiservices", Singular: "apiservice", Kind: "APIService",
		Categories: []string{"api-extensions"}, Status: true,
	}
}
