package resources

// serviceAccounts is the resource serviceaccounts.
func serviceAccounts() *Definition {
	return &Definition{
		Plural: "serviceaccounts", Singular: "serviceaccount", Kind: "ServiceAccount",
		ShortNames: []string{"sa"}, Namespaced: true,
	}
}
