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
func admission(version, resource string) api.GroupVersionResource {
	return api.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: version, Resource: resource}
}

// listPolicies lists policies or bindings in the version that the server has of them. Without any
// it has none.
func listPolicies(ctx context.Context, c *collector, resource string, read func(*api.Unstructured) (why.Policy, bool)) (answer why.Answer[why.Policy]) {
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		answer = listWhole(ctx, c, admission(version, resource), "", api.ListOptions{}, read)
		if answer.Failed == nil || answer.Failed.Code != http.StatusNotFound {
			return answer
		}
	}
	answer.Failed = nil
	return answer
}

func (c *collector) configurations(ctx context.Context, resource string) why.Answer[[]why.Webhook] {
	return listWhole(ctx, c, admission("v1", resource), "", api.ListOptions{}, func(o *api.Unstructured) (hooks []why.Webhook, ok bool) {
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

// policies reads the admission policies and their bindings.
func (c *collector) policies(ctx context.Context) {
	policies := listPolicies(ctx, c, "validatingadmissionpolicies",
		func(o *api.Unstructured) (why.Policy, bool) {
			p := policy(o)
			for _, part := range []string{"validations", "variables", "matchConditions"} {
				p.Authorizer = p.Authorizer || slices.ContainsFunc(items(o.Nested("spec", part)), func(entry map[string]any) bool {
					return strings.Contains(text(entry, "expression"), "authorizer")
				})
			}
			return p, true
		})
	bindings := listPolicies(ctx, c, "validatingadmissionpolicybindings",
		func(o *api.Unstructured) (why.Policy, bool) {
			parameter := o.NestedString("spec", "paramRef", "name")
			if parameter == "" && o.Nested("spec", "paramRef", "selector") != nil {
				parameter = "*"
			}
			b := policyBinding(o)
			b.Parameter = parameter
			return b, true
		})
	mutating := listPolicies(ctx, c, "mutatingadmissionpolicies",
		func(o *api.Unstructured) (why.Policy, bool) {
			p := policy(o)
			p.Mutating = true
			return p, o.NestedString("spec", "failurePolicy") != "Ignore"
		})
	var bound why.Answer[why.Policy]
	if len(mutating.Items) > 0 {
		bound = listPolicies(ctx, c, "mutatingadmissionpolicybindings",
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
