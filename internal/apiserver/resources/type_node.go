package resources

// nodes is the resource nodes.
func nodes() *Definition {
	return &Definition{
		Plural: "nodes", Singular: "node", Kind: "Node",
		ShortNames: []string{"no"}, Status: true,
	}
}
