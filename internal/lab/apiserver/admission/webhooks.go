package admission

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// maxReview limits the size of a webhook's answer.
const maxReview = 3 << 20

// askWebhooks calls the validating webhooks that are for a request, one after the other in the
// order of their configurations' names, up to the first refusal.
func (c *Controller) askWebhooks(ctx context.Context, q *request) error {
	for _, stored := range c.stored("validatingwebhookconfigurations") {
		for _, hook := range items(stored.Decode().Object["webhooks"]) {
			if err := c.askWebhook(ctx, q, hook); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Controller) askWebhook(ctx context.Context, q *request, hook map[string]any) error {
	m := constraintsOf(hook, "rules", "")
	if len(m.rules) == 0 {
		return nil
	}
	version, matches, err := m.match(q)
	if err != nil || !matches {
		return err
	}
	ignores := hook["failurePolicy"] == "Ignore"
	name, _ := hook["name"].(string)
	object, old := q.documents(version)
	holds, err := c.conditionsHold(items(hook["matchConditions"]), q.variables(object, old, nil))
	if err != nil && !ignores {
		return apierrors.Forbidden(q.Definition.Group, q.Definition.Plural, q.Name, err.Error())
	}
	if !holds {
		return nil
	}
	if q.Write.DryRun && hook["sideEffects"] != "None" && hook["sideEffects"] != "NoneOnDryRun" {
		return apierrors.BadRequest(fmt.Sprintf("admission webhook %q does not support dry run", name))
	}
	answer, err := c.call(ctx, hook, q.review(hook, version, object, old))
	if err != nil {
		if ignores {
			return nil
		}
		return apierrors.InternalError(fmt.Errorf("failed calling webhook %q: %w", name, err))
	}
	if q.Write.Warn != nil && len(answer.Warnings) > 0 {
		q.Write.Warn(answer.Warnings)
	}
	if answer.Allowed {
		return nil
	}
	return denied(name, answer.Status)
}

// denied returns the refusal of a webhook.
func denied(name string, status *api.Status) error {
	if status == nil {
		status = &api.Status{}
	}
	status.TypeMeta = api.TypeMeta{Kind: "Status", APIVersion: "v1"}
	status.Status = api.StatusFailure
	status.Code = max(status.Code, http.StatusBadRequest)
	explanation := cmp.Or(status.Message, string(status.Reason))
	status.Message = fmt.Sprintf("admission webhook %q denied the request", name)
	if explanation != "" {
		status.Message += ": " + explanation
	} else {
		status.Message += " without explanation"
	}
	return api.NewStatusError(*status)
}

// review returns the AdmissionReview of a request (API documentation: dynamic admission control).
func (q *request) review(hook map[string]any, version string, object, old map[string]any) review {
	apiVersion := group + "/v1"
	for _, known := range texts(hook["admissionReviewVersions"]) {
		if known == "v1" || known == "v1beta1" {
			apiVersion = strings.Replace(group, "registration", "", 1) + "/" + known
			break
		}
	}
	kind := func(version string) map[string]any {
		return map[string]any{"group": q.Definition.Group, "version": version, "kind": q.Definition.Kind}
	}
	resource := func(version string) map[string]any {
		return map[string]any{"group": q.Definition.Group, "version": version, "resource": q.Definition.Plural}
	}
	asked := map[string]any{
		"uid": rand.Text(), "kind": kind(version), "resource": resource(version),
		"requestKind": kind(q.Version), "requestResource": resource(q.Version),
		"name": q.name(), "operation": q.operation(), "userInfo": map[string]any{"username": q.User, "groups": q.Write.Groups},
		"object": object, "oldObject": old, "dryRun": q.Write.DryRun, "options": q.options(),
	}
	if q.Definition.Namespaced || q.isNamespace() {
		asked["namespace"] = cmp.Or(q.Namespace, q.name())
	}
	if q.Subresource != "" {
		asked["subResource"], asked["requestSubResource"] = q.Subresource, q.Subresource
	}
	return review{APIVersion: apiVersion, Kind: "AdmissionReview", Request: asked}
}

// options returns the options of the write.
func (q *request) options() map[string]any {
	kind := map[string]string{"create": "CreateOptions", "delete": "DeleteOptions", "patch": "PatchOptions"}[q.Verb]
	options := map[string]any{"kind": cmp.Or(kind, "UpdateOptions"), "apiVersion": "meta.k8s.io/v1"}
	if q.Write.DryRun {
		options["dryRun"] = []any{"All"}
	}
	if q.Write.FieldManager != "" && q.Verb != "delete" {
		options["fieldManager"] = q.Write.FieldManager
	}
	return options
}

// review is an AdmissionReview.
type review struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Request    map[string]any `json:"request,omitempty"`
	Response   *verdict       `json:"response,omitempty"`
}

// verdict is the answer of a webhook.
type verdict struct {
	UID      string      `json:"uid"`
	Allowed  bool        `json:"allowed"`
	Status   *api.Status `json:"status,omitempty"`
	Warnings []string    `json:"warnings,omitempty"`
}

// call sends a review to a webhook.
func (c *Controller) call(ctx context.Context, hook map[string]any, asked review) (*verdict, error) {
	seconds, ok := hook["timeoutSeconds"].(int64)
	if !ok {
		seconds = 10
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	config, _ := hook["clientConfig"].(map[string]any)
	target, transport, err := c.target(config, seconds)
	if err != nil {
		return nil, fmt.Errorf("failed to call webhook: %w", err)
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return nil, fmt.Errorf("could not create admission objects: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("failed to call webhook: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return nil, fmt.Errorf("failed to call webhook: %w", err)
	}
	defer response.Body.Close()
	answered, err := io.ReadAll(io.LimitReader(response.Body, maxReview))
	if err != nil {
		return nil, fmt.Errorf("failed to call webhook: %w", err)
	}
	switch {
	case response.StatusCode == http.StatusNotFound:
		return nil, errors.New("failed to call webhook: the server could not find the requested resource")
	case response.StatusCode >= http.StatusBadRequest:
		return nil, fmt.Errorf("failed to call webhook: an error on the server (%q) has prevented the request from succeeding", bytes.TrimSpace(answered))
	}
	return verified(asked, answered)
}

// verified decodes the answer of a webhook.
func verified(asked review, answered []byte) (*verdict, error) {
	var answer review
	if err := json.Unmarshal(answered, &answer); err != nil {
		return nil, fmt.Errorf("failed to call webhook: couldn't get version/kind; json parse error: %w", err)
	}
	switch {
	case answer.Kind != asked.Kind || answer.APIVersion != asked.APIVersion:
		return nil, fmt.Errorf("received invalid webhook response: expected webhook response of %s, Kind=%s, got %s, Kind=%s",
			asked.APIVersion, asked.Kind, answer.APIVersion, answer.Kind)
	case answer.Response == nil:
		return nil, errors.New("received invalid webhook response: webhook response was absent")
	case answer.Response.UID != asked.Request["uid"]:
		return nil, fmt.Errorf("received invalid webhook response: expected response.uid=%q, got %q", asked.Request["uid"], answer.Response.UID)
	}
	return answer.Response, nil
}

// target returns the URL of a webhook and the transport for it. A Service is resolved to a ready
// endpoint, because no node forwards packets to its cluster IP.
func (c *Controller) target(config map[string]any, seconds int64) (string, http.RoundTripper, error) {
	encoded, _ := config["caBundle"].(string)
	authorities, _ := base64.StdEncoding.DecodeString(encoded) // checked by the schema
	timeout := fmt.Sprintf("timeout=%ds", seconds)
	service, isService := config["service"].(map[string]any)
	if !isService {
		text, _ := config["url"].(string)
		parsed, err := url.Parse(text)
		if err != nil {
			return "", nil, err
		}
		parsed.RawQuery = timeout
		return parsed.String(), c.Transport("", "", authorities), nil
	}
	namespace, _ := service["namespace"].(string)
	name, _ := service["name"].(string)
	port, ok := service["port"].(int64)
	if !ok {
		port = 443
	}
	path, _ := service["path"].(string)
	host := name + "." + namespace + ".svc"
	whole := fmt.Sprintf("https://%s:%d/%s?%s", host, port, strings.TrimPrefix(path, "/"), timeout)
	backend := c.Backend(namespace, name, port)
	if backend.Err != nil {
		return "", nil, &url.Error{Op: "Post", URL: whole, Err: backend.Err}
	}
	return whole, c.Transport(host, backend.Address, authorities), nil
}
