package resources

// namespaces is the resource namespaces.
func namespaces() *Definition {
	return &Definition{
		Plural: "namespaces", Singular: "namespace", Kind: "Namespace",
		ShortNames: []string{"ns"}, Status: true, Finalize: true,
		Verbs: []string{"create", "delete", "get", "list", "patch", "update", "watch"},
	}
}
