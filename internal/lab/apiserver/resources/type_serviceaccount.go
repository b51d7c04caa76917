package resources

// serviceAccounts are the identities of programs.
func serviceAccounts() *Definition {
	return &Definition{
		Plural:   "serviceaccounts",
		Columns:  []Column{nameColumn(), ageColumn()},
		Strategy: Strategy{UpdateMeta: CheckStepThenAll, AllowUnconditionalUpdate: true},
	}
}
