package faults

import (
	"fmt"
	"net/http"
	"time"

	"orrery/restclient/api"
)

// refusal returns an error in kube-apiserver's form.
func refusal(code int, reason api.StatusReason, message string, details *api.StatusDetails) *api.StatusError {
	return api.NewStatusError(api.Status{
		TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   api.StatusFailure, Code: code, Reason: reason, Message: message, Details: details,
	})
}

func refuseBusy(f *fault) *api.StatusError {
	return refusal(http.StatusTooManyRequests, api.ReasonTooManyRequests, "Too many requests, please try again later.", retryAfter(f.wait))
}

func refuseUnavailable(wait time.Duration) *api.StatusError {
	return refusal(http.StatusServiceUnavailable, api.ReasonServiceUnavailable,
		"the server is currently unable to handle the request", retryAfter(wait))
}

func retryAfter(wait time.Duration) *api.StatusDetails {
	if wait == 0 {
		return nil
	}
	return &api.StatusDetails{RetryAfterSeconds: int(wait / time.Second)}
}

func refuseInternal(message string) *api.StatusError {
	return refusal(http.StatusInternalServerError, api.ReasonInternalError, "Internal error occurred: "+message,
		&api.StatusDetails{Causes: []api.StatusCause{{Message: message}}})
}

// refuseForbidden returns the message of RBAC. A request for a Namespace object has that namespace.
func refuseForbidden(r Request) *api.StatusError {
	const code, reason = http.StatusForbidden, api.ReasonForbidden
	if r.Resource == "" {
		return refusal(code, reason, fmt.Sprintf("forbidden: User %q cannot %s path %q", r.User, r.Verb, r.Path), &api.StatusDetails{})
	}
	what, resource, where := r.Resource, r.Resource, "at the cluster scope"
	if r.Group != "" {
		what += "." + r.Group
	}
	if r.Name != "" {
		what += fmt.Sprintf(" %q", r.Name)
	}
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	namespace := r.Namespace
	if namespace == "" && r.Group == "" && r.Resource == "namespaces" {
		namespace = r.Name
	}
	if namespace != "" {
		where = fmt.Sprintf("in the namespace %q", namespace)
	}
	message := fmt.Sprintf("%s is forbidden: User %q cannot %s resource %q in API group %q %s", what, r.User, r.Verb, resource, r.Group, where)
	return refusal(code, reason, message, &api.StatusDetails{Name: r.Name, Group: r.Group, Kind: r.Resource})
}

func refuseDenied(f *fault) *api.StatusError {
	why := " without explanation"
	if f.message != "" {
		why = ": " + f.message
	}
	return refusal(http.StatusForbidden, api.ReasonForbidden, fmt.Sprintf("admission webhook %q denied the request%s", f.webhook, why), nil)
}

func refuseUnreachable(f *fault) *api.StatusError {
	return refuseInternal(fmt.Sprintf("failed calling webhook %q: failed to call webhook: Post %q: dial tcp 127.0.0.1:9: connect: connection refused",
		f.webhook, "https://127.0.0.1:9/?timeout=10s"))
}

// Forbidden returns the 403 of RBAC for a request.
func Forbidden(r Request) *api.StatusError { return refuseForbidden(r) }
