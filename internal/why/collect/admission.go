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

// webhookConfiguration has the fields that are read of both kinds of webhook configurations.
type webhookConfiguration struct {
	api.PartialObjectMetadata
	Webhooks []struct {
		why.Webhook
		Objects    why.Selector `json:"objectSelector"`
		Conditions []struct{}   `json:"matchConditions"`
	} `json:"webhooks"`
}

// webhooks reads both kinds of webhook configurations.
func (c *collector) webhooks(ctx context.Context) {
	c.evidence.Webhooks = joined(func(resource string) why.Answer[why.Webhook] {
		return list(ctx, c, admission(resource), func(kept []why.Webhook, o *webhookConfiguration) []why.Webhook {
			for _, w := range o.Webhooks {
				hook := w.Webhook
				hook.Resource, hook.Configuration, hook.Changed = resource, o.Name, changed(o.ManagedFields)
				hook.FailurePolicy = cmp.Or(w.FailurePolicy, "Fail")
				hook.Narrowed = len(w.Conditions) > 0 || !w.Objects.Empty()
				kept = append(kept, hook)
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
			Rules      []why.Rule   `json:"resourceRules"`
			Namespaces why.Selector `json:"namespaceSelector"`
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
		Rules: o.Spec.Match.Rules, NamespaceOnly: o.Spec.Match.Namespaces,
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
