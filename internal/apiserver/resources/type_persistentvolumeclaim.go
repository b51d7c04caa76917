package resources

// persistentVolumeClaims is the resource persistentvolumeclaims.
func persistentVolumeClaims() *Definition {
	return &Definition{
		Plural: "persistentvolumeclaims", Singular: "persistentvolumeclaim", Kind: "PersistentVolumeClaim",
		ShortNames: []string{"pvc"}, Namespaced: true, Status: true,
	}
}
