package faults

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

func refuseUnavailable(wait time.Duration) *api.StatusError {
	refused := resources.ServiceUnavailable("the server is currently unable to handle the request")
	refused.Status.Details = retryAfter(wait)
	return refused
}

func retryAfter(wait time.Duration) *api.StatusDetails {
	if wait == 0 {
		return nil
	}
	return &api.StatusDetails{RetryAfterSeconds: int(wait / time.Second)}
}

func refuseInternal(message string) *api.StatusError {
	return resources.InternalError(errors.New(message))
}

// Forbidden returns the 403 of RBAC for a request. One for a Namespace object has that namespace.
func Forbidden(r Request) *api.StatusError {
	const code, reason = http.StatusForbidden, api.ReasonForbidden
	if r.Resource == "" {
		return resources.Failure(code, reason,
			fmt.Sprintf("forbidden: User %q cannot %s path %q", r.User, r.Verb, r.Path), &api.StatusDetails{})
	}
	where := "at the cluster scope"
	if namespace := r.namespace(); namespace != "" {
		where = fmt.Sprintf("in the namespace %q", namespace)
	}
	message := fmt.Sprintf("%s is forbidden: User %q cannot %s resource %q in API group %q %s", r.object(), r.User,
		r.Verb, r.path(), r.Group, where)
	return resources.Failure(code, reason, message, &api.StatusDetails{Name: r.Name, Group: r.Group, Kind: r.Resource})
}

// webhook returns the name of the webhook that the fault plays.
func (f *fault) webhook() string {
	if f.kind == webhookDenies {
		return f.options.Text("webhook", "deny.example.com")
	}
	return f.options.Text("webhook", "unreachable.example.com")
}

func refuseDenied(f *fault) *api.StatusError {
	why := " without explanation"
	if message := f.options.Text("message", ""); message != "" {
		why = ": " + message
	}
	return resources.Failure(http.StatusForbidden, api.ReasonForbidden,
		fmt.Sprintf("admission webhook %q denied the request%s", f.webhook(), why), nil)
}

// connectionRefused is the failure of a webhook that no stored configuration describes.
const connectionRefused = `Post "https://127.0.0.1:9/?timeout=10s": dial tcp 127.0.0.1:9: connect: connection refused`

func refuseUnreachable(f *fault, failure string) *api.StatusError {
	return refuseInternal(fmt.Sprintf("failed calling webhook %q: failed to call webhook: %s", f.webhook(), failure))
}

// object names the object of a request, as messages do: deployments.apps "web".
func (r Request) object() string {
	what := resources.Qualified(r.Group, r.Resource)
	if r.Name != "" {
		what += fmt.Sprintf(" %q", r.Name)
	}
	return what
}

// refusePolicy returns the 422 of a ValidatingAdmissionPolicy.
func refusePolicy(f *fault, r Request) *api.StatusError {
	text := fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s",
		f.options.Text("policy", "deny"), f.options.Text("binding", "deny"),
		f.options.Text("message", "failed expression: false"))
	if r.Collection {
		r.Name = "Unknown" // as kube-apiserver says
	}
	return resources.Failure(http.StatusUnprocessableEntity, api.ReasonInvalid, r.object()+" is forbidden: "+text,
		&api.StatusDetails{Name: r.Name, Group: r.Group, Kind: r.Resource, Causes: []api.StatusCause{{Message: text}}})
}

// defaultConverter is the Service of the webhook of conversion-fails.
const defaultConverter = "default/conversion"

// refuseUnconverted returns the 500 of a conversion webhook that cannot be called. It has no
// reason.
func refuseUnconverted(f *fault, r Request, kind string) *api.StatusError {
	stored := api.GroupVersion{Group: r.Group, Version: f.options.Text("from", r.Version)}
	namespace, name, _ := strings.Cut(f.options.Text("service", defaultConverter), "/")
	return resources.Failure(http.StatusInternalServerError, "", fmt.Sprintf("conversion webhook for %s, Kind=%s "+
		"failed: Post \"https://%s.%s.svc:443/convert?timeout=30s\": no endpoints available for service %q",
		stored, kind, name, namespace, name), nil)
}

// refuseUnreadable returns the 500 of a read that cannot decrypt an object. Only a list names it.
func refuseUnreadable(f *fault, r Request, key string) *api.StatusError {
	message := f.options.Text("message", "no matching prefix found")
	if slices.Contains([]string{"list", "watch", "deletecollection"}, r.Verb) {
		return refuseInternal(fmt.Sprintf("unable to transform key %q: %s", key, message))
	}
	return refuseInternal(message)
}
