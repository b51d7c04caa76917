package apiserver

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"orrery/internal/lab/apiserver/apierrors"
	"orrery/internal/lab/apiserver/authn"
	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

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
	if err := checkLifetime(seconds); err != nil {
		return apierrors.Invalid(kind.Group, kind.Kind, "", err)
	}
	audiences := request.NestedStringSlice("spec", "audiences")
	if len(audiences) == 0 {
		audiences = []string{authn.Address}
	}
	now := time.Now().UTC()
	expires := now.Add(time.Duration(seconds) * time.Second)
	token := x.server.authenticator.ServiceAccounts.Issue(authn.ServiceAccount{
		Namespace: t.Namespace, Name: t.Name, UID: account.UID, Audiences: audiences,
	}, expires)
	return x.sendJSON(http.StatusCreated, map[string]any{
		"kind": kind.Kind, "apiVersion": gvOf(kind).String(),
		"metadata": map[string]any{
			"name": t.Name, "namespace": t.Namespace, "uid": account.UID, "creationTimestamp": now.Format(time.RFC3339),
		},
		"spec":   map[string]any{"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": request.Nested("spec", "boundObjectRef")},
		"status": map[string]any{"token": token, "expirationTimestamp": expires.Format(time.RFC3339)},
	})
}

func checkLifetime(seconds int64) []apierrors.FieldError {
	err := apierrors.FieldError{Type: apierrors.FieldInvalid, Field: "spec.expirationSeconds", Value: seconds}
	switch {
	case seconds < minTokenSeconds:
		err.Detail = "may not specify a duration less than 10 minutes"
	case seconds > maxTokenSeconds:
		err.Detail = "may not specify a duration larger than 2^32 seconds"
	default:
		return nil
	}
	err.Value = json.Number(strconv.FormatInt(seconds, 10))
	return []apierrors.FieldError{err}
}
