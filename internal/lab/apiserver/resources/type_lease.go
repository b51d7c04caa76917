package resources

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// leases say who leads, and who is alive.
func leases() *Definition {
	return &Definition{
		Group:  "coordination.k8s.io",
		Plural: "leases",
		Columns: []Column{
			nameColumn(),
			{Name: "Holder", Type: "string", Description: "Who holds it.", Cell: field("spec", "holderIdentity")},
			ageColumn(),
		},
		Strategy: Strategy{
			LooseFinalizers:     true,
			Default:             func(o *api.Unstructured) { made(o.Object, "spec") },
			Validate:            validateLease,
			AllowCreateOnUpdate: true,
		},
	}
}

func validateLease(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	spec := child(o.Object, "spec")
	if has(spec, "leaseDurationSeconds") {
		if n := whole(spec, "leaseDurationSeconds"); n <= 0 {
			m.invalid("spec.leaseDurationSeconds", n, "must be greater than 0")
		}
	}
	m.notNegative(spec, "leaseTransitions", "spec.leaseTransitions")
	return m
}
