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

// resourceQuotas limit what a namespace may use. Nobody enforces them here.
func resourceQuotas() *Definition {
	return &Definition{
		Plural: "resourcequotas",
		Columns: []Column{
			nameColumn(),
			{Name: "Request", Type: "string", Description: "What is used and allowed, of requests and of objects.", Cell: quotaCell(false)},
			{Name: "Limit", Type: "string", Description: "What is used and allowed, of limits.", Cell: quotaCell(true)},
			ageColumn(),
		},
		Strategy: Strategy{
			Default:                  func(o *api.Unstructured) { made(o.Object, "spec"); made(o.Object, "status") },
			PrepareCreate:            resetStatus,
			PrepareUpdate:            keepStatus,
			PrepareStatus:            keepAllButStatus,
			Validate:                 validateQuota,
			ValidateUpdate:           validateQuotaUpdate,
			AllowUnconditionalUpdate: true,
		},
	}
}

var quotaResources = []string{
	"cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.storage", "requests.ephemeral-storage",
	"limits.cpu", "limits.memory", "limits.ephemeral-storage", "pods", "resourcequotas", "services", "replicationcontrollers",
	"secrets", "persistentvolumeclaims", "configmaps", "services.nodeports", "services.loadbalancers",
}

var quotaScopes = []string{"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity", "VolumeAttributesClass"}

func validateQuota(o *api.Unstructured) []apierrors.FieldError {
	var m mistakes
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
	m := mistakes(validateQuota(o))
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

// compareQuantities compares two amounts; false if one cannot be read.
func compareQuantities(a, b any) (int, bool) {
	left, ok := schema.ParseAmount(a)
	right, also := schema.ParseAmount(b)
	if !ok || !also {
		return 0, false
	}
	return left.Cmp(right), true
}
