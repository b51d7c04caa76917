package faults

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/resources"
)

// hook is a webhook of a stored ValidatingWebhookConfiguration.
type hook struct {
	Name              string         `json:"name"`
	FailurePolicy     string         `json:"failurePolicy"`
	NamespaceSelector map[string]any `json:"namespaceSelector"`
	Rules             []struct {
		Operations []string `json:"operations"`
		APIGroups  []string `json:"apiGroups"`
		Resources  []string `json:"resources"`
	} `json:"rules"`
	ClientConfig struct {
		Service struct{ Namespace, Name string } `json:"service"`
	} `json:"clientConfig"`
}

// configuredLocked reports whether the write concerns a fault with the option configuration: a
// policy whose binding exists, or a webhook that kube-apiserver would ask about the write and
// whose failure would refuse it. It returns the failure.
func (f *fault) configuredLocked(r Request, objects Objects) (failure string, concerned bool) {
	name := f.options.Text("configuration", "")
	if name == "" || objects == nil {
		return connectionRefused, true
	}
	if f.kind == policyDenies {
		binding := objects.Stored("validatingadmissionpolicybindings", "", name)
		return "", binding != nil &&
			objects.Stored("validatingadmissionpolicies", "", binding.NestedString("spec", "policyName")) != nil
	}
	var configuration struct {
		Webhooks []hook `json:"webhooks"`
	}
	stored := objects.Stored("validatingwebhookconfigurations", "", name)
	if stored == nil {
		return "", false
	}
	text, err := json.Marshal(stored.Object)
	if err != nil || json.Unmarshal(text, &configuration) != nil {
		return "", false
	}
	for _, h := range configuration.Webhooks {
		if h.Name == f.webhook() && h.FailurePolicy != "Ignore" && h.about(r) && h.in(r, objects) {
			service := h.ClientConfig.Service
			if service.Name == "" { // it has a URL
				return connectionRefused, true
			}
			reason := fmt.Sprintf("no endpoints available for service %q", service.Name)
			if objects.Stored("services", service.Namespace, service.Name) == nil {
				reason = fmt.Sprintf("service %q not found", service.Name)
			}
			return fmt.Sprintf("Post \"https://%s.%s.svc:443/?timeout=10s\": %s", service.Name, service.Namespace,
				reason), true
		}
	}
	return "", false
}

// about reports whether a rule is about the write.
func (h hook) about(r Request) bool {
	operation := "UPDATE"
	switch r.Verb {
	case "create":
		operation = "CREATE"
	case "delete", "deletecollection":
		operation = "DELETE"
	}
	for _, rule := range h.Rules {
		if oneOf(rule.Operations, operation) && oneOf(rule.APIGroups, r.Group) &&
			slices.ContainsFunc(rule.Resources, r.isOf) {
			return true
		}
	}
	return false
}

// isOf reports whether a pattern of a webhook's rule, such as pods, */* or pods/status, is about
// the resource. A pattern without a slash is about no subresource.
func (r Request) isOf(pattern string) bool {
	resource, subresource, _ := strings.Cut(pattern, "/")
	return (resource == "*" || resource == r.Resource) && (subresource == "*" || subresource == r.Subresource)
}

// in reports whether the webhook selects the namespace of the object.
func (h hook) in(r Request, objects Objects) bool {
	selected, err := resources.ParseLabelSelector(h.NamespaceSelector)
	namespace := objects.Stored("namespaces", "", r.namespace())
	return err == nil && (selected.Empty() || namespace == nil || selected.Matches(namespace.GetLabels()))
}

func oneOf(list []string, value string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, value)
}
