package faults

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"orrery/internal/lab/apiserver/resources"
)

// hook is a webhook of a stored ValidatingWebhookConfiguration.
type hook struct {
	Name              string         `json:"name"`
	FailurePolicy     string         `json:"failurePolicy"`
	NamespaceSelector map[string]any `json:"namespaceSelector"`
	TimeoutSeconds    int            `json:"timeoutSeconds"`
	Rules             []struct {
		Operations []string `json:"operations"`
		APIGroups  []string `json:"apiGroups"`
		Resources  []string `json:"resources"`
	} `json:"rules"`
	ClientConfig struct {
		Service *struct {
			Namespace, Name, Path string
			Port                  int
		} `json:"service"`
	} `json:"clientConfig"`
}

// calls reports whether the stored configuration of the fault has a webhook with its name that
// kube-apiserver would ask about the write and whose failure would refuse it.
func (f *fault) calls(r Request, objects Objects) (hook, bool) {
	var configuration struct {
		Webhooks []hook `json:"webhooks"`
	}
	stored := objects.Stored("validatingwebhookconfigurations", "", f.order.text("configuration", ""))
	if stored == nil {
		return hook{}, false
	}
	text, err := json.Marshal(stored.Object)
	if err != nil || json.Unmarshal(text, &configuration) != nil {
		return hook{}, false
	}
	at := slices.IndexFunc(configuration.Webhooks, func(h hook) bool { return h.Name == f.webhook() })
	if at < 0 {
		return hook{}, false
	}
	h := configuration.Webhooks[at]
	return h, h.FailurePolicy != "Ignore" && h.about(r) && h.in(r, objects)
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
			slices.ContainsFunc(rule.Resources, func(pattern string) bool {
				resource, subresource, _ := strings.Cut(pattern, "/")
				return (resource == "*" || resource == r.Resource) &&
					(subresource == "*" || subresource == r.Subresource)
			}) {
			return true
		}
	}
	return false
}

// in reports whether the webhook selects the namespace of the object.
func (h hook) in(r Request, objects Objects) bool {
	selected, err := resources.ParseLabelSelector(h.NamespaceSelector)
	name := r.Namespace
	if r.Group == "" && r.Resource == "namespaces" {
		name = r.Name
	}
	namespace := objects.Stored("namespaces", "", name)
	return err == nil && (selected.Empty() || namespace == nil || selected.Matches(namespace.GetLabels()))
}

func oneOf(list []string, value string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, value)
}

// failure returns the error of a call of the webhook, whose Service has no ready endpoint.
func (h hook) failure(objects Objects) string {
	service := h.ClientConfig.Service
	if service == nil {
		return connectionRefused
	}
	reason := fmt.Sprintf("no endpoints available for service %q", service.Name)
	if objects.Stored("services", service.Namespace, service.Name) == nil {
		reason = fmt.Sprintf("service %q not found", service.Name)
	}
	target := url.URL{
		Scheme: "https", Host: fmt.Sprintf("%s.%s.svc:%d", service.Name, service.Namespace, service.Port),
		Path: "/" + strings.TrimPrefix(service.Path, "/"), RawQuery: fmt.Sprintf("timeout=%ds", h.TimeoutSeconds),
	}
	return fmt.Sprintf("Post %q: %s", target.String(), reason)
}

// inForce reports whether the stored binding of the fault and its policy exist.
func (f *fault) inForce(objects Objects) bool {
	binding := objects.Stored("validatingadmissionpolicybindings", "", f.order.text("configuration", ""))
	if binding == nil {
		return false
	}
	return objects.Stored("validatingadmissionpolicies", "", binding.NestedString("spec", "policyName")) != nil
}

// configuredLocked reports whether the write concerns a fault with the option configuration, and
// returns the failure of the webhook.
func (f *fault) configuredLocked(r Request, objects Objects) (failure string, concerned bool) {
	switch {
	case f.order.text("configuration", "") == "" || objects == nil:
		return connectionRefused, true
	case f.kind == policyDenies:
		return "", f.inForce(objects)
	}
	h, called := f.calls(r, objects)
	if !called {
		return "", false
	}
	return h.failure(objects), true
}
