package resources

// configMaps is the resource configmaps.
func configMaps() *Definition {
	return &Definition{
		Plural: "configmaps", Singular: "configmap", Kind: "ConfigMap",
		ShortNames: []string{"cm"}, Namespaced: true,
	}
}
