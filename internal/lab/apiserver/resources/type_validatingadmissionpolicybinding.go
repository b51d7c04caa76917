package resources

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// validatingAdmissionPolicyBindings say where a policy applies. Nobody evaluates them here.
func validatingAdmissionPolicyBindings() *Definition {
	return &Definition{
		Group:  admissionGroup,
		Plural: "validatingadmissionpolicybindings",
		Columns: []Column{
			nameColumn(),
			{Name: "PolicyName", Type: "string", Description: "The policy that applies.", Cell: field("spec", "policyName")},
			{Name: "ParamRef", Type: "string", Description: "Its parameters.", Cell: bindingParamRef},
			ageColumn(),
		},
		Strategy: Strategy{
			UpdateMeta: CheckAll, LooseFinalizers: true,
			Default:       defaultPolicyBinding,
			PrepareCreate: firstGeneration,
			PrepareUpdate: func(o, old *api.Unstructured) { nextGeneration(o, old, specChanged(o, old)) },
			Validate:      validatePolicyBinding,
		},
	}
}

func defaultPolicyBinding(o *api.Unstructured) {
	if match := child(made(o.Object, "spec"), "matchResources"); match != nil {
		matchDefaults(match, "resourceRules")
	}
}

func validatePolicyBinding(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	spec := child(o.Object, "spec")
	if text(spec, "policyName") == "" {
		m.required("spec.policyName", "")
	}
	if len(texts(spec, "validationActions")) == 0 {
		m.required("spec.validationActions", "at least one validation action is required")
	}
	return m
}
