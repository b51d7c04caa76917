package resources

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

// builtinDefinitions returns the built-in types, by group in the order of kube-apiserver's discovery: all that it serves by
// default. What can be said of each in general is recorded; what is special about some is in their code.
func builtinDefinitions() []*Definition {
	special := map[api.GroupVersionResource]*Definition{}
	for _, d := range specialDefinitions() {
		if d.Version == "" {
			d.Version = "v1"
		}
		special[d.Resource()] = d
	}
	var definitions []*Definition
	for _, r := range records() {
		d := special[api.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Plural}]
		if d == nil {
			d = plainDefinition(r)
		}
		r.describe(d)
		d.complete()
		definitions = append(definitions, d)
	}
	return definitions
}

// specialDefinitions are the types that have code of their own.
func specialDefinitions() []*Definition {
	return []*Definition{
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
		olderAutoscalers(),
	}
}

// complete fills in what follows from the rest.
func (d *Definition) complete() {
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
	fillIn := d.Strategy.Default
	d.Strategy.Default = func(o *api.Unstructured) {
		if o.Object == nil {
			o.Object = tree{}
		}
		if fillIn != nil {
			fillIn(o)
		}
	}
	if validate := d.Strategy.Validate; validate != nil && d.Strategy.ValidateUpdate == nil {
		d.Strategy.ValidateUpdate = func(o, _ *api.Unstructured) []apierrors.FieldError { return validate(o) }
	}
}
