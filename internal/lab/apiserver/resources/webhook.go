package resources

import (
	"fmt"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/restclient/api"
)

const admissionGroup = "admissionregistration.k8s.io"

// webhookConfigurations is what validating and mutating webhooks have in common.
func webhookConfigurations(d *Definition, reinvocation string) *Definition {
	d.Group = admissionGroup
	d.Columns = []Column{
		nameColumn(),
		{Name: "Webhooks", Type: "integer", Description: "How many webhooks there are.", Cell: length("webhooks")},
		ageColumn(),
	}
	d.Strategy = Strategy{
		UpdateMeta: CheckAll, LooseFinalizers: true,
		Default:       func(o *api.Unstructured) { defaultWebhooks(o, reinvocation) },
		PrepareCreate: firstGeneration,
		PrepareUpdate: func(o, old *api.Unstructured) {
			nextGeneration(o, old, !same(o.Nested("webhooks"), old.Nested("webhooks")))
		},
		Validate: validateWebhooks,
	}
	return d
}

func defaultWebhooks(o *api.Unstructured, reinvocation string) {
	for _, hook := range items(o.Object, "webhooks") {
		if hook == nil {
			continue
		}
		fillText(hook, "failurePolicy", "Fail")
		fill(hook, "timeoutSeconds", int64(10))
		if reinvocation != "" {
			fillText(hook, "reinvocationPolicy", reinvocation)
		}
		matchDefaults(hook, "rules")
		if service := child(child(hook, "clientConfig"), "service"); service != nil {
			fill(service, "port", int64(443))
		}
	}
}

// matchDefaults fills in which requests are meant.
func matchDefaults(t tree, rules string) {
	fillText(t, "matchPolicy", "Equivalent")
	fill(t, "namespaceSelector", tree{})
	fill(t, "objectSelector", tree{})
	for _, rule := range items(t, rules) {
		if rule != nil {
			fillText(rule, "scope", "*")
		}
	}
}

func validateWebhooks(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
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
		if n := whole(hook, "timeoutSeconds"); n < 1 || n > 30 {
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

func (m *mistakes) sideEffects(hook tree, path string) {
	switch effects := text(hook, "sideEffects"); effects {
	case "":
		m.required(path, "must specify one of None, NoneOnDryRun")
	case "None", "NoneOnDryRun":
	default:
		m.unsupported(path, effects, "None", "NoneOnDryRun")
	}
}

func (m *mistakes) reviewVersions(hook tree, path string) {
	versions := texts(hook, "admissionReviewVersions")
	if len(versions) == 0 {
		m.required(path, "must specify one of v1, v1beta1")
	}
	for i, version := range versions {
		m.names(at(path, i), version, names.ServiceLabel(version))
	}
}

func policyValidations(o *api.Unstructured, now time.Time) any {
	return length("spec", "validations")(o, now)
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
	return or(text(ref, "name"), "*/*")
}
