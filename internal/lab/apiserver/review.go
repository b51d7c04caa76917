package apiserver

import (
	"net/http"
	"slices"
	"time"

	"orrery/internal/lab/apiserver/faults"
	"orrery/internal/lab/apiserver/registry"
	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// serveReview answers a review of users or their rights (kubectl auth). Nothing is stored: the
// answer is the request with a status. Rights are decided by the function that would refuse the
// request itself.
func (x *exchange) serveReview(kind string, namespaced bool) error {
	if namespaced != x.info.Scoped || x.info.Name != "" {
		return resources.ResourceNotFound()
	}
	if x.r.Method != http.MethodPost {
		return resources.MethodNotAllowed()
	}
	want := api.GroupVersionKind{Group: x.info.Group, Version: x.info.Version, Kind: kind}
	t, _ := resources.Builtin().Type(want)
	question, _, err := x.readPosted(want, t)
	if err != nil {
		return err
	}
	status, err := x.answerReview(kind, question)
	if err != nil {
		return err
	}
	if question.Object["metadata"] == nil {
		question.Object["metadata"] = map[string]any{}
	}
	question.Object["status"] = status
	return x.sendJSON(http.StatusCreated, question)
}

func (x *exchange) answerReview(kind string, question *api.Unstructured) (map[string]any, error) {
	switch kind {
	case "SelfSubjectReview":
		question.SetNested(time.Now().UTC().Format(time.RFC3339), "metadata", "creationTimestamp")
		return map[string]any{"userInfo": userInfo(x.user)}, nil
	case "TokenReview":
		return x.reviewToken(question)
	case "SelfSubjectRulesReview":
		return x.reviewRules(question)
	case "SelfSubjectAccessReview":
		return x.reviewAccess(x.user.Name, x.user.Groups, question)
	}
	return x.reviewAccess(question.NestedString("spec", "user"), question.NestedStringSlice("spec", "groups"), question)
}

// rolesUnused is why every user may do what no fault forbids.
const rolesUnused = "Roles are stored and not evaluated: this server allows everything that no fault forbids"

// reviewAccess reports whether a user may do something. Administrators may do it on every cluster;
// for others the answer says that no Role was asked.
func (x *exchange) reviewAccess(user string, groups []string, question *api.Unstructured) (map[string]any, error) {
	asked := faults.Request{User: user}
	resource, isResource := question.Nested("spec", "resourceAttributes").(map[string]any)
	other, isOther := question.Nested("spec", "nonResourceAttributes").(map[string]any)
	switch {
	case isResource == isOther:
		return nil, resources.Invalid("authorization.k8s.io", "", "", resources.Wrong(
			resources.FieldInvalid, "spec.resourceAttributes", nil,
			"exactly one of nonResourceAttributes or resourceAttributes must be specified"))
	case isOther:
		asked.Verb, asked.Path = text(other, "verb"), text(other, "path")
	default:
		asked.Verb, asked.Group, asked.Version = text(resource, "verb"), text(resource, "group"),
			text(resource, "version")
		asked.Resource, asked.Subresource = text(resource, "resource"), text(resource, "subresource")
		asked.Namespace, asked.Name = text(resource, "namespace"), text(resource, "name")
	}
	if x.server.faults.Forbids(asked) {
		return map[string]any{"allowed": false, "reason": faults.Forbidden(asked).Status.Message}, nil
	}
	if slices.Contains(groups, GroupMasters) {
		return map[string]any{"allowed": true}, nil
	}
	return map[string]any{"allowed": true, "reason": rolesUnused}, nil
}

func text(fields map[string]any, name string) string {
	value, _ := fields[name].(string)
	return value
}

// reviewRules returns the rules of the user: everything. Rules cannot express what faults forbid,
// so while there is such a fault the list is empty and incomplete, as with a webhook authorizer.
func (x *exchange) reviewRules(question *api.Unstructured) (map[string]any, error) {
	if question.NestedString("spec", "namespace") == "" {
		return nil, resources.BadRequest("no namespace on request")
	}
	question.Object["spec"] = map[string]any{}
	if x.server.faults.ForbidsSomething(x.user.Name) {
		return map[string]any{
			"resourceRules": []any{}, "nonResourceRules": []any{}, "incomplete": true,
			"evaluationError": "faults of this server forbid something, which no rule can express",
		}, nil
	}
	everything := []string{"*"}
	status := map[string]any{
		"resourceRules": []any{map[string]any{"verbs": everything, "apiGroups": everything,
			"resources": everything}},
		"nonResourceRules": []any{map[string]any{"verbs": everything, "nonResourceURLs": everything}},
		"incomplete":       false,
	}
	if !slices.Contains(x.user.Groups, GroupMasters) {
		status["evaluationError"] = rolesUnused
	}
	return status, nil
}

// reviewToken returns the user of a token.
func (x *exchange) reviewToken(question *api.Unstructured) (map[string]any, error) {
	token := question.NestedString("spec", "token")
	if token == "" {
		return nil, resources.Invalid("authentication.k8s.io", "TokenReview", "",
			resources.Wrong(resources.FieldRequired, "spec.token", nil, ""))
	}
	user, known := x.server.identity.fromToken(token)
	if !known {
		return map[string]any{"user": map[string]any{}, "error": "invalid bearer token"}, nil
	}
	return map[string]any{
		"authenticated": true, "user": userInfo(authenticated(user)), "audiences": []string{tokenIssuer},
	}, nil
}

func userInfo(user User) map[string]any {
	info := map[string]any{"username": user.Name}
	if user.UID != "" {
		info["uid"] = user.UID
	}
	if len(user.Groups) > 0 {
		info["groups"] = user.Groups
	}
	return info
}

// The lifetimes of tokens, in seconds.
const (
	minTokenSeconds     = 600
	defaultTokenSeconds = 3600
	maxTokenSeconds     = 1 << 32
)

// serveToken issues a token for a service account.
func (x *exchange) serveToken(t registry.Target) error {
	kind := api.GroupVersionKind{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"}
	request, _, err := x.readPosted(kind, nil)
	if err != nil {
		return err
	}
	t.Subresource = ""
	account, err := x.server.registry.Get(t, api.GetOptions{})
	if err != nil {
		return err
	}
	seconds := int64(defaultTokenSeconds)
	if request.Nested("spec", "expirationSeconds") != nil {
		seconds = request.NestedInt64("spec", "expirationSeconds")
	}
	if seconds < minTokenSeconds || seconds > maxTokenSeconds {
		return resources.Invalid(kind.Group, kind.Kind, "", resources.Wrong(resources.FieldInvalid,
			"spec.expirationSeconds", seconds, "must be from 600 to 2^32"))
	}
	audiences := request.NestedStringSlice("spec", "audiences")
	if len(audiences) == 0 {
		audiences = []string{tokenIssuer}
	}
	now := time.Now().UTC()
	expires := now.Add(time.Duration(seconds) * time.Second)
	token := x.server.identity.issueToken(t.Namespace, t.Name, account.UID, expires)
	return x.sendJSON(http.StatusCreated, map[string]any{
		"kind": kind.Kind, "apiVersion": gvOf(kind).String(),
		"metadata": map[string]any{
			"name": t.Name, "namespace": t.Namespace, "uid": account.UID, "creationTimestamp": now.Format(time.RFC3339),
		},
		"spec": map[string]any{"audiences": audiences, "expirationSeconds": seconds,
			"boundObjectRef": request.Nested("spec", "boundObjectRef")},
		"status": map[string]any{"token": token, "expirationTimestamp": expires.Format(time.RFC3339)},
	})
}
