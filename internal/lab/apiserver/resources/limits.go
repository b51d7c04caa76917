package resources

import (
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/names"
	"orrery/internal/lab/apiserver/schema"
	"orrery/restclient/api"
)

// nameOfUID names an object without a name after its UID, as kube-apiserver does for LimitRanges.
func nameOfUID(o *api.Unstructured) {
	if o.GetName() == "" {
		metadata := ensure(o.Object, "metadata")
		metadata["name"] = metadata["uid"]
	}
}

// fillLimitRange derives the absent limits of containers: default from max, and defaultRequest from
// default or else min.
func fillLimitRange(o tree) {
	for _, limit := range items(child(o, "spec"), "limits") {
		if text(limit, "type") != "Container" {
			continue
		}
		fillMap(limit, "default", child(limit, "max"))
		fillMap(limit, "defaultRequest", child(limit, "default"))
		fillMap(limit, "defaultRequest", child(limit, "min"))
	}
}

func validateLimitRange(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
	for i, limit := range items(child(o.Object, "spec"), "limits") {
		path := at("spec.limits", i)
		if text(limit, "type") == "Pod" {
			for _, key := range []string{"default", "defaultRequest"} {
				if has(limit, key) {
					m.forbidden(path+"."+key, "may not be specified when `type` is 'Pod'")
				}
			}
			continue
		}
		m.limit(limit, path)
	}
	return m
}

func (m *errorList) limit(limit tree, path string) {
	all := tree{}
	for _, key := range []string{"min", "max", "default", "defaultRequest"} {
		for name := range child(limit, key) {
			all[name] = true
		}
	}
	for _, name := range sortedKeys(all) {
		low, high := child(limit, "min")[name], child(limit, "max")[name]
		request, value := child(limit, "defaultRequest")[name], child(limit, "default")[name]
		m.ordered(under(path+".min", name), low, low, high, "min value %s is greater than max value %s")
		m.ordered(under(path+".defaultRequest", name), request, low, request, "min value %s is greater than default request value %s")
		m.ordered(under(path+".defaultRequest", name), request, request, high, "default request value %s is greater than max value %s")
		m.ordered(under(path+".defaultRequest", name), request, request, value, "default request value %s is greater than default limit value %s")
		m.ordered(under(path+".default", name), low, low, value, "min value %s is greater than default value %s")
		m.ordered(under(path+".default", name), value, value, high, "default value %s is greater than max value %s")
	}
}

var quotaCells = map[string]cell{"Request": quotaCell(false), "Limit": quotaCell(true)}

var quotaResources = []string{
	"cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.storage", "requests.ephemeral-storage",
	"limits.cpu", "limits.memory", "limits.ephemeral-storage", "pods", "resourcequotas", "services", "replicationcontrollers",
	"secrets", "persistentvolumeclaims", "configmaps", "services.nodeports", "services.loadbalancers",
}

var quotaScopes = []string{"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity", "VolumeAttributesClass"}

func validateQuota(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
	spec := child(o.Object, "spec")
	hard := child(spec, "hard")
	for _, name := range sortedKeys(hard) {
		path := under("spec.hard", name)
		m.names(path, name, names.Qualified(name))
		if !strings.Contains(name, "/") && !slices.Contains(quotaResources, name) {
			m.invalid(path, name, "must be a standard resource for quota")
		}
		m.amount(hard[name], path)
	}
	scopes := texts(spec, "scopes")
	if slices.ContainsFunc(scopes, func(scope string) bool { return !slices.Contains(quotaScopes, scope) }) {
		m.invalid("spec.scopes", scopes, "unsupported scope")
	}
	return m
}

func validateQuotaUpdate(o, old *api.Unstructured) []apierrors.FieldError {
	m := errorList(validateQuota(o))
	m.immutable("spec.scopes", o.Nested("spec", "scopes"), old.Nested("spec", "scopes"))
	return m
}

func quotaCell(limits bool) func(*api.Unstructured, time.Time) any {
	return func(o *api.Unstructured, _ time.Time) any {
		status := child(o.Object, "status")
		hard, used := child(status, "hard"), child(status, "used")
		var parts []string
		for _, name := range sortedKeys(hard) {
			if strings.HasPrefix(name, "limits.") == limits {
				parts = append(parts, name+": "+quantityText(used[name])+"/"+quantityText(hard[name]))
			}
		}
		return strings.Join(parts, ", ")
	}
}

func quantityText(value any) string {
	if a, ok := schema.ParseAmount(value); ok {
		return a.String()
	}
	return "0"
}

// compareQuantities compares two quantities. It returns false if one is invalid.
func compareQuantities(a, b any) (int, bool) {
	left, ok := schema.ParseAmount(a)
	right, also := schema.ParseAmount(b)
	if !ok || !also {
		return 0, false
	}
	return left.Cmp(right), true
}

func validateLease(o *api.Unstructured) []apierrors.FieldError {
	var m errorList
	spec := child(o.Object, "spec")
	if has(spec, "leaseDurationSeconds") {
		if n := integer(spec, "leaseDurationSeconds"); n <= 0 {
			m.invalid("spec.leaseDurationSeconds", n, "must be greater than 0")
		}
	}
	m.notNegative(spec, "leaseTransitions", "spec.leaseTransitions")
	return m
}
