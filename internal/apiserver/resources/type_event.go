package resources

// coreEvents is the resource events.
func coreEvents() *Definition {
	return &Definition{
		Plural: "events", Singular: "event", Kind: "Event",
		ShortNames: []string{"ev"}, Namespaced: true,
	}
}
