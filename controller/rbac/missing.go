package rbac

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"orrery/restclient"
)

// Missing returns the rights that the user of the client lacks, each with the missing verbs. It
// asks for each verb, and stores nothing: a list of the user's rules would lack those of an
// authorizer that cannot list them (a webhook). An error means that the server does not answer
// reviews.
func Missing(ctx context.Context, client *restclient.Client, rights []Right) (missing []Right, err error) {
	for _, right := range rights {
		lacking := right
		lacking.Rule.Verbs = nil
		for _, verb := range right.Rule.Verbs {
			allowed, err := reviewAccess(ctx, client, right, verb)
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

// reviewAccess reports whether the user has a right with one verb. If the server cannot decide, it
// reports true.
func reviewAccess(ctx context.Context, client *restclient.Client, right Right, verb string) (bool, error) {
	for _, group := range right.Rule.APIGroups {
		for _, resource := range right.Rule.Resources {
			name, subresource, _ := strings.Cut(resource, "/")
			attributes := map[string]any{
				"namespace": right.Namespace, "verb": verb,
				"group": group, "resource": name, "subresource": subresource,
			}
			if len(right.Rule.ResourceNames) > 0 {
				attributes["name"] = right.Rule.ResourceNames[0]
			}
			question, err := json.Marshal(map[string]any{
				"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
				"spec": map[string]any{"resourceAttributes": attributes},
			})
			if err != nil {
				return false, err
			}
			var answer struct {
				Status struct {
					Allowed         bool   `json:"allowed"`
					EvaluationError string `json:"evaluationError"`
				} `json:"status"`
			}
			err = client.Do(ctx, restclient.Request{
				Verb: http.MethodPost, Path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", Body: question,
			}, &answer)
			if err != nil || !answer.Status.Allowed && answer.Status.EvaluationError == "" {
				return false, err
			}
		}
	}
	return true, nil
}
