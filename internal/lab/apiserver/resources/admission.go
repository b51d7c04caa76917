package resources

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

// Validating webhooks and policies are called by package admission; mutating ones are only stored.

var policyCells = map[string]cell{
	"Validations": length("spec", "validations"), "Mutations": length("spec", "mutations"), "ParamKind": policyParamKind,
	"PolicyName": field("spec", "policyName"), "ParamRef": bindingParamRef,
}

func validateWebhooks(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
	seen := map[string]bool{}
	for i, hook := range items(o.Object, "webhooks") {
		path := at("webhooks", i)
		name := text(hook, "name")
		m.names(path+".name", name, names.Subdomain(name))
		if strings.Count(name, ".") < 2 && len(names.Subdomain(name)) == 0 {
			m.invalid(path+".name", name, "should be a domain with at least three segments separated by dots")
		}
		if seen[name] {
			m.duplicate(path+".name", name)
		}
		seen[name] = true
		m.oneOf(hook, "failurePolicy", path+".failurePolicy", false, "Fail", "Ignore")
		m.oneOf(hook, "matchPolicy", path+".matchPolicy", false, "Equivalent", "Exact")
		m.sideEffects(hook, path+".sideEffects")
		if n := integer(hook, "timeoutSeconds"); n < 1 || n > 30 {
			m.invalid(path+".timeoutSeconds", n, "the timeout value must be between 1 and 30 seconds")
		}
		config := child(hook, "clientConfig")
		if (text(config, "url") == "") == (child(config, "service") == nil) {
			m.required(path+".clientConfig", "exactly one of url or service is required")
		}
		m.reviewVersions(hook, path+".admissionReviewVersions")
	}
	return m
}

func (m *errorList) sideEffects(hook tree, path string) {
	switch effects := text(hook, "sideEffects"); effects {
	case "":
		m.required(path, "must specify one of None, NoneOnDryRun")
	case "None", "NoneOnDryRun":
	default:
		m.unsupported(path, effects, "None", "NoneOnDryRun")
	}
}

func (m *errorList) reviewVersions(hook tree, path string) {
	versions := texts(hook, "admissionReviewVersions")
	if len(versions) == 0 {
		m.required(path, "must specify one of v1, v1beta1")
	}
	for i, version := range versions {
		m.names(at(path, i), version, names.ServiceLabel(version))
	}
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

func validatePolicy(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
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

func validatePolicyBinding(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
	spec := child(o.Object, "spec")
	if text(spec, "policyName") == "" {
		m.required("spec.policyName", "")
	}
	if len(texts(spec, "validationActions")) == 0 {
		m.required("spec.validationActions", "at least one validation action is required")
	}
	return m
}
