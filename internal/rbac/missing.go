package rbac

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"orrery/restclient"
)

// nowhere is a namespace that does not exist, without role bindings of its own: rights there hold
// in every namespace.
const nowhere = "orrery-no-such-namespace"

// Missing returns the rights that the user of the client lacks, each with the missing verbs. It
// stores nothing.
//
// It reviews the rules of each namespace. Rights that a review does not show are reviewed one by
// one, because an authorizer may be unable to list its rules (a webhook). An error means that the
// server does not answer reviews.
func Missing(ctx context.Context, client *restclient.Client, rights []Right) (missing []Right, err error) {
	rules := map[string][]Rule{}
	for _, right := range rights {
		if _, known := rules[right.Namespace]; !known {
			if rules[right.Namespace], err = reviewRules(ctx, client, right.Namespace); err != nil {
				return nil, err
			}
		}
		lacking := right
		lacking.Rule.Verbs = nil
		for _, verb := range right.Rule.Verbs {
			one := right.Rule
			one.Verbs = []string{verb}
			if slices.ContainsFunc(rules[right.Namespace], one.isPartOf) {
				continue
			}
			allowed, err := reviewAccess(ctx, client, right.Namespace, one)
			if err != nil {
				return nil, err
			}
			if !allowed {
				lacking.Rule.Verbs = append(lacking.Rule.Verbs, verb)
			}
		}
		if len(lacking.Rule.Verbs) > 0 {
			missing = append(missing, lacking)
		}
	}
	return missing, nil
}

// isPartOf reports whether another rule includes this one.
func (r Rule) isPartOf(other Rule) bool {
	named := len(other.ResourceNames) == 0 || len(r.ResourceNames) > 0 && areIn(r.ResourceNames, other.ResourceNames, equal)
	return named && areIn(r.Verbs, other.Verbs, equal) && areIn(r.APIGroups, other.APIGroups, equal) && areIn(r.Resources, other.Resources, sameResource)
}

// areIn reports whether all words are among the others, or "*" is.
func areIn(words, others []string, same func(word, other string) bool) bool {
	for _, word := range words {
		if !slices.ContainsFunc(others, func(other string) bool { return other == "*" || same(word, other) }) {
			return false
		}
	}
	return true
}

func equal(word, other string) bool { return word == other }

// sameResource also reports that "*/status" includes "pods/status".
func sameResource(resource, other string) bool {
	_, subresource, _ := strings.Cut(resource, "/")
	return resource == other || subresource != "" && other == "*/"+subresource
}

// reviewRules returns the known rules of the user in a namespace; "" means all.
func reviewRules(ctx context.Context, client *restclient.Client, namespace string) ([]Rule, error) {
	if namespace == "" {
		namespace = nowhere
	}
	var answer struct {
		Status struct {
			ResourceRules []Rule `json:"resourceRules"`
		} `json:"status"`
	}
	err := review(ctx, client, "SelfSubjectRulesReview", map[string]any{"namespace": namespace}, &answer)
	return answer.Status.ResourceRules, err
}

// reviewAccess reports whether the user has the right of a rule with one verb. If the server cannot
// decide, it reports true.
func reviewAccess(ctx context.Context, client *restclient.Client, namespace string, rule Rule) (bool, error) {
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			name, subresource, _ := strings.Cut(resource, "/")
			attributes := map[string]any{"namespace": namespace, "verb": rule.Verbs[0], "group": group, "resource": name, "subresource": subresource}
			if len(rule.ResourceNames) > 0 {
				attributes["name"] = rule.ResourceNames[0]
			}
			var answer struct {
				Status struct {
					Allowed         bool   `json:"allowed"`
					EvaluationError string `json:"evaluationError"`
				} `json:"status"`
			}
			err := review(ctx, client, "SelfSubjectAccessReview", map[string]any{"resourceAttributes": attributes}, &answer)
			if err != nil || !answer.Status.Allowed && answer.Status.EvaluationError == "" {
				return false, err
			}
		}
	}
	return true, nil
}

// review sends a review of the group authorization.k8s.io.
func review(ctx context.Context, client *restclient.Client, kind string, spec map[string]any, answer any) error {
	question, err := json.Marshal(map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec})
	if err != nil {
		return err
	}
	path := "/apis/authorization.k8s.io/v1/" + strings.ToLower(kind) + "s"
	return client.Do(ctx, restclient.Request{Verb: http.MethodPost, Path: path, Body: question}, answer)
}
