package resources

// secrets is the resource secrets.
func secrets() *Definition {
	return &Definition{
		Plural: "secrets", Singular: "secret", Kind: "Secret",
		Namespaced: true,
	}
}
