package resources

// pods is the resource pods.
func pods() *Definition {
	return &Definition{
		Plural: "pods", Singular: "pod", Kind: "Pod",
		ShortNames: []string{"po"}, Categories: []string{"all"}, Namespaced: true, Status: true,
	}
}
