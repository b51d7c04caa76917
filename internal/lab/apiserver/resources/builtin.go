package resources

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

// builtinDefinitions returns the built-in types, by group in the order of kube-apiserver's discovery.
func builtinDefinitions() []*Definition {
	definitions := []*Definition{
		configMaps(), coreEvents(), limitRanges(), namespaces(), nodes(), persistentVolumeClaims(), pods(),
		resourceQuotas(), secrets(), serviceAccounts(), services(newAllocator()),
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

// complete fills in what follows from the rest. Documents of built-in types are made canonical before anything else.
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
	d.Type, _ = schema.Builtin().Type(api.GroupVersionKind{Group: d.Group, Version: d.Version, Kind: d.Kind})
	stored := api.GroupVersionKind{Group: d.Group, Version: d.Version, Kind: d.Kind}
	if d.ToStorage != nil {
		stored.Group = ""
	}
	d.Strategy.Default = canonicalized(stored, d.Strategy.Default)
	if validate := d.Strategy.Validate; validate != nil && d.Strategy.ValidateUpdate == nil {
		d.Strategy.ValidateUpdate = func(o, _ *api.Unstructured) []apierrors.FieldError { return validate(o) }
	}
}
