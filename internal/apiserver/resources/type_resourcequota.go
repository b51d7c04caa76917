package resources

// resourceQuotas is the resource resourcequotas.
func resourceQuotas() *Definition {
	return &Definition{
		Plural: "resourcequotas", Singular: "resourcequota", Kind: "ResourceQuota",
		ShortNames: []string{"quota"}, Namespaced: true, Status: true,
	}
}
