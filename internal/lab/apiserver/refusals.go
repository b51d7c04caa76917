package apiserver

import (
	"orrery/internal/lab/apiserver/apierrors"
	"orrery/restclient/api"
)

// The messages of kube-apiserver for requests that are refused before it is known what they are about.
const (
	methodMessage  = "the server does not allow this method on the requested resource"
	bodyTypes      = "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf"
	bodyTooLarge   = "limit is 3145728"
	statusOfKind   = "Status"
	coreAPIVersion = "v1"
)

// withDetails adds the empty details that the original sends with some refusals.
func withDetails(refused *api.StatusError) *api.StatusError {
	if refused.Status.Details == nil {
		refused.Status.Details = &api.StatusDetails{}
	}
	return refused
}

func methodNotAllowed() error { return apierrors.MethodNotAllowed(methodMessage) }

// notAcceptable refuses a form. What the router of the original refuses has details, what its serializers refuse has none.
func notAcceptable(message string) error {
	refused := apierrors.NotAcceptable(message)
	if len(message) > 3 && message[:4] == "406:" {
		return withDetails(refused)
	}
	return refused
}
