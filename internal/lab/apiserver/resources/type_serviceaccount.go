package resources

// serviceAccounts are the identities of programs.
func serviceAccounts() *Definition {
	return &Definition{
		Plural: "serviceaccounts", Singular: "serviceaccount", Kind: "ServiceAccount",
		ShortNames: []string{"sa"}, Namespaced: true,
		Columns:  []Column{nameColumn(), ageColumn()},
		Strategy: Strategy{UpdateMeta: CheckStepThenAll, AllowUnconditionalUpdate: true},
	}
}
