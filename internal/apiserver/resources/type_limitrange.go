package resources

// limitRanges is the resource limitranges.
func limitRanges() *Definition {
	return &Definition{
		Plural: "limitranges", Singular: "limitrange", Kind: "LimitRange",
		ShortNames: []string{"limits"}, Namespaced: true,
	}
}
