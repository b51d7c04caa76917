package resources

// groupEvents is the resource events of events.k8s.io.
func groupEvents() *Definition {
	return &Definition{
		Group:  "events.k8s.io",
		Plural: "events", Singular: "event", Kind: "Event",
		ShortNames: []string{"ev"}, Namespaced: true,
	}
}
