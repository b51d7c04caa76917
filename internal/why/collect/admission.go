package collect

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"orrery/internal/why"
	"orrery/restclient/api"
)

// admission selects a type that admission is configured with.
func admission(resource string) query {
	return query{gvr: v1("admissionregistration.k8s.io", resource)}
}

// matchRule is a rule of a webhook or of a policy.
type matchRule struct {
	Operations []string `json:"operations"`
	Groups     []string `json:"apiGroups"`
	Resources  []string `json:"resources"`
}

func rulesOf(rules []matchRule) (list []why.Rule) {
	for _, r := range rules {
		list = append(list, why.Rule(r))
	}
	return list
}

// selector is a label selector.
type selector struct {
	Labels      map[string]string `json:"matchLabels"`
	Expressions []why.Expression  `json:"matchExpressions"`
}

// clientConfig says where the server of a webhook is.
type clientConfig struct {
	Service *why.Service `json:"service"`
	URL     string       `json:"url"`
}

// webhookConfiguration has the fields that are read of both kinds of webhook configurations.
type webhookConfiguration struct {
	api.PartialObjectMetadata
	Webhooks []struct {
		Name          string       `json:"name"`
		Client        clientConfig `json:"clientConfig"`
		FailurePolicy string       `json:"failurePolicy"`
		Rules         []matchRule  `json:"rules"`
		Namespaces    selector     `json:"namespaceSelector"`
		Objects       selector     `json:"objectSelector"`
		Conditions    []struct{}   `json:"matchConditions"`
	} `json:"webhooks"`
}

// webhooks reads both kinds of webhook configurations.
func (c *collector) webhooks(ctx context.Context) {
	c.evidence.Webhooks = joined(func(resource string) why.Answer[why.Webhook] {
		return list(ctx, c, admission(resource), func(kept []why.Webhook, o *webhookConfiguration) []why.Webhook {
			for _, w := range o.Webhooks {
				kept = append(kept, why.Webhook{
					Resource: resource, Configuration: o.Name, Name: w.Name,
					Changed: changed(o.ManagedFields),
					Service: w.Client.Service, URL: w.Client.URL, FailurePolicy: cmp.Or(w.FailurePolicy, "Fail"),
					Rules: rulesOf(w.Rules), NamespaceOnly: why.Selector(w.Namespaces),
					Narrowed: len(w.Conditions) > 0 || !why.Selector(w.Objects).Empty(),
				})
			}
			return kept
		})
	}, "validatingwebhookconfigurations", "mutatingwebhookconfigurations")
}

// policy has the fields that are read of an admission policy or of a binding of one.
type policy struct {
	api.PartialObjectMetadata
	Spec struct {
		Match struct {
			Rules      []matchRule `json:"resourceRules"`
			Namespaces selector    `json:"namespaceSelector"`
		} `json:"matchConstraints"`
		Validations []expression `json:"validations"`
		Variables   []expression `json:"variables"`
		Conditions  []expression `json:"matchConditions"`

		Of         string    `json:"policyName"`
		Parameters *struct{} `json:"paramRef"`
	} `json:"spec"`
}

type expression struct {
	Text string `json:"expression"`
}

func policyOf(kept []why.Policy, o *policy) []why.Policy {
	expressions := slices.Concat(o.Spec.Validations, o.Spec.Variables, o.Spec.Conditions)
	asks := slices.ContainsFunc(expressions, func(e expression) bool { return strings.Contains(e.Text, "authorizer") })
	return append(kept, why.Policy{
		Name: o.Name, Changed: changed(o.ManagedFields), Of: o.Spec.Of, Binding: o.Spec.Of != "",
		Rules: rulesOf(o.Spec.Match.Rules), NamespaceOnly: why.Selector(o.Spec.Match.Namespaces),
		Depends: asks || o.Spec.Parameters != nil,
	})
}

// policies reads the admission policies and their bindings. A server without them has none.
func (c *collector) policies(ctx context.Context) {
	c.evidence.Policies = joined(func(resource string) why.Answer[why.Policy] {
		answer := list(ctx, c, admission(resource), policyOf)
		if answer.Failed != nil && answer.Failed.Code == http.StatusNotFound {
			answer.Failed = nil
		}
		return answer
	}, "validatingadmissionpolicies", "validatingadmissionpolicybindings")
}

// changed returns when an object was last written, its status apart.
func changed(fields api.ManagedFields) time.Time { return lastWrite(fields, false) }
