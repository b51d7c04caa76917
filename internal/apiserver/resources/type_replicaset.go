package resources

// replicaSets is the resource replicasets of apps.
func replicaSets() *Definition {
	return &Definition{
		Group:  "apps",
		Plural: "replicasets", Singular: "replicaset", Kind: "ReplicaSet",
		ShortNames: []string{"rs"}, Categories: []string{"all"}, Namespaced: true, Status: true, Scale: true,
	}
}
