package resources

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// validatingAdmissionPolicies are expressions that may refuse what is written. Nobody evaluates them here.
func validatingAdmissionPolicies() *Definition {
	return &Definition{
		Group:  admissionGroup,
		Plural: "validatingadmissionpolicies",
		Columns: []Column{
			nameColumn(),
			{Name: "Validations", Type: "integer", Description: "How many expressions there are.", Cell: policyValidations},
			{Name: "ParamKind", Type: "string", Description: "The kind of its parameters.", Cell: policyParamKind},
			ageColumn(),
		},
		Strategy: Strategy{
			UpdateMeta: CheckAll, LooseFinalizers: true,
			Default:       defaultPolicy,
			PrepareCreate: func(o *api.Unstructured) { resetStatus(o); firstGeneration(o) },
			PrepareUpdate: specGeneration,
			PrepareStatus: statusKeepsMetadata("labels", "annotations", "finalizers", "ownerReferences"),
			Validate:      validatePolicy,
		},
	}
}

func defaultPolicy(o *api.Unstructured) {
	spec := made(o.Object, "spec")
	fillText(spec, "failurePolicy", "Fail")
	if match := child(spec, "matchConstraints"); match != nil {
		matchDefaults(match, "resourceRules")
	}
}

func validatePolicy(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
	spec := child(o.Object, "spec")
	m.oneOf(spec, "failurePolicy", "spec.failurePolicy", false, "Fail", "Ignore")
	if child(spec, "matchConstraints") == nil {
		m.required("spec.matchConstraints", "")
	}
	if len(items(spec, "validations"))+len(items(spec, "auditAnnotations")) == 0 {
		const detail = "validations or auditAnnotations must contain at least one item"
		m.required("spec.validations", detail)
		m.required("spec.auditAnnotations", detail)
	}
	for i, validation := range items(spec, "validations") {
		if text(validation, "expression") == "" {
			m.required(at("spec.validations", i)+".expression", "expression is not specified")
		}
	}
	return m
}
