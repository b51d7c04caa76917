package resources

import (
	"cmp"
	"fmt"
	"time"

	"orrery/restclient/api"
)

// Webhooks and policies are only stored; faults play their refusals.

var policyCells = map[string]cell{
	"Validations": length("spec", "validations"), "Mutations": length("spec", "mutations"), "ParamKind": policyParamKind,
	"PolicyName": field("spec", "policyName"), "ParamRef": bindingParamRef,
}

func policyParamKind(o *api.Unstructured, _ time.Time) any {
	kind, _ := o.Nested("spec", "paramKind").(map[string]any)
	if kind == nil {
		return unsetText
	}
	return text(kind, "apiVersion") + "/" + text(kind, "kind")
}

func bindingParamRef(o *api.Unstructured, _ time.Time) any {
	ref, _ := o.Nested("spec", "paramRef").(map[string]any)
	if ref == nil {
		return unsetText
	}
	if namespace := text(ref, "namespace"); namespace != "" {
		return fmt.Sprintf("%s/%s", namespace, text(ref, "name"))
	}
	return cmp.Or(text(ref, "name"), "*/*")
}
