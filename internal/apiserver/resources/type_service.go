package resources

// services is the resource services.
func services() *Definition {
	return &Definition{
		Plural: "services", Singular: "service", Kind: "Service",
		ShortNames: []string{"svc"}, Categories: []string{"all"}, Namespaced: true, Status: true,
	}
}
