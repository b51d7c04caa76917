package resources

// builtinDefinitions returns the built-in types, by group in the order of kube-apiserver's discovery.
func builtinDefinitions() []*Definition {
	definitions := []*Definition{
		configMaps(), coreEvents(), limitRanges(), namespaces(), nodes(), persistentVolumeClaims(), pods(),
		resourceQuotas(), secrets(), serviceAccounts(), services(),
		apiServices(),
		deployments(), replicaSets(),
		groupEvents(),
		clusterRoleBindings(), clusterRoles(), roleBindings(), roles(),
		mutatingWebhookConfigurations(), validatingAdmissionPolicies(), validatingAdmissionPolicyBindings(),
		validatingWebhookConfigurations(),
		customResourceDefinitions(),
		leases(),
	}
	for _, d := range definitions {
		d.complete()
	}
	return definitions
}

// complete fills in what follows from the rest.
func (d *Definition) complete() {
	if d.Version == "" {
		d.Version = "v1"
	}
	if d.Versions == nil {
		d.Versions = []string{d.Version}
	}
	if d.ListKind == "" {
		d.ListKind = d.Kind + "List"
	}
	if d.Prefix == "" {
		d.Prefix = "/registry/" + d.Plural
	}
}
