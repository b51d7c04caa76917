package collect

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// webhooks reads both kinds of webhook configurations.
func (c *collector) webhooks(ctx context.Context) {
	validating, mutating := c.configurations(ctx, "validatingwebhookconfigurations"), c.configurations(ctx, "mutatingwebhookconfigurations")
	c.evidence.Webhooks = why.Answer[why.Webhook]{
		Request: validating.Request, Items: append(slices.Concat(validating.Items...), slices.Concat(mutating.Items...)...),
		Failed: cmp.Or(validating.Failed, mutating.Failed),
	}
}

// admission returns a type that admission is configured with.
func admission(resource string) api.GroupVersionResource {
	return api.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource}
}

func (c *collector) configurations(ctx context.Context, resource string) why.Answer[[]why.Webhook] {
	return list(ctx, c, admission(resource), "", api.ListOptions{}, func(o *api.Unstructured) (hooks []why.Webhook, ok bool) {
		for _, entry := range items(o.Nested("webhooks")) {
			config, _ := entry["clientConfig"].(map[string]any)
			hooks = append(hooks, why.Webhook{
				Resource: resource, Configuration: o.GetName(), UID: o.GetUID(), Name: text(entry, "name"),
				FailurePolicy: cmp.Or(text(entry, "failurePolicy"), "Fail"), Service: service(config["service"]), URL: text(config, "url"),
				Rules: rules(entry["rules"]), NamespaceOnly: selector(entry["namespaceSelector"]), Changed: changed(o),
				Narrowed: len(items(entry["matchConditions"])) > 0 || !selector(entry["objectSelector"]).Empty(),
			})
		}
		return hooks, true
	})
}

// policies reads the admission policies and their bindings. A server without mutating ones, which
// Kubernetes has since 1.36, has none.
func (c *collector) policies(ctx context.Context) {
	policies := list(ctx, c, admission("validatingadmissionpolicies"), "", api.ListOptions{},
		func(o *api.Unstructured) (why.Policy, bool) {
			p := policy(o)
			for _, part := range []string{"validations", "variables", "matchConditions"} {
				p.Authorizer = p.Authorizer || slices.ContainsFunc(items(o.Nested("spec", part)), func(entry map[string]any) bool {
					return strings.Contains(text(entry, "expression"), "authorizer")
				})
			}
			return p, true
		})
	bindings := list(ctx, c, admission("validatingadmissionpolicybindings"), "", api.ListOptions{},
		func(o *api.Unstructured) (why.Policy, bool) {
			parameter := o.NestedString("spec", "paramRef", "name")
			if parameter == "" && o.Nested("spec", "paramRef", "selector") != nil {
				parameter = "*"
			}
			b := policyBinding(o)
			b.Parameter = parameter
			return b, true
		})
	mutating := list(ctx, c, admission("mutatingadmissionpolicies"), "", api.ListOptions{},
		func(o *api.Unstructured) (why.Policy, bool) {
			p := policy(o)
			p.Mutating = true
			return p, o.NestedString("spec", "failurePolicy") != "Ignore"
		})
	var bound why.Answer[why.Policy]
	switch {
	case mutating.Failed != nil && mutating.Failed.Code == http.StatusNotFound:
		mutating.Failed = nil
	case len(mutating.Items) > 0:
		bound = list(ctx, c, admission("mutatingadmissionpolicybindings"), "", api.ListOptions{},
			func(o *api.Unstructured) (why.Policy, bool) {
				b := policyBinding(o)
				b.Mutating = true
				return b, true
			})
	}
	c.evidence.Policies = why.Answer[why.Policy]{
		Request: policies.Request, Items: slices.Concat(policies.Items, bindings.Items, mutating.Items, bound.Items),
		Failed: cmp.Or(policies.Failed, bindings.Failed, mutating.Failed, bound.Failed),
	}
}

func policy(o *api.Unstructured) why.Policy {
	return why.Policy{
		Name: o.GetName(), UID: o.GetUID(), Changed: changed(o),
		Rules: rules(o.Nested("spec", "matchConstraints", "resourceRules")), NamespaceOnly: selector(o.Nested("spec", "matchConstraints", "namespaceSelector")),
	}
}

func policyBinding(o *api.Unstructured) why.Policy {
	return why.Policy{Name: o.GetName(), UID: o.GetUID(), Binding: true, Of: o.NestedString("spec", "policyName"), Changed: changed(o)}
}

func rules(value any) (list []why.Rule) {
	for _, entry := range items(value) {
		list = append(list, why.Rule{Operations: words(entry["operations"]), Groups: words(entry["apiGroups"]), Resources: words(entry["resources"])})
	}
	return list
}

func selector(value any) why.Selector {
	fields, _ := value.(map[string]any)
	var s why.Selector
	if labels, ok := fields["matchLabels"].(map[string]any); ok {
		s.Labels = map[string]string{}
		for key := range labels {
			s.Labels[key] = text(labels, key)
		}
	}
	for _, entry := range items(fields["matchExpressions"]) {
		s.Expressions = append(s.Expressions, why.Expression{Key: text(entry, "key"), Operator: text(entry, "operator"), Values: words(entry["values"])})
	}
	return s
}
