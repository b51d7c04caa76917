package apierrors

import (
	"net/http"

	"orrery/restclient/api"
)

// failure makes the error that all constructors return.
func failure(code int, reason api.StatusReason, message string, details *api.StatusDetails) *api.StatusError {
	return api.NewStatusError(api.Status{
		TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   api.StatusFailure,
		Message:  message,
		Reason:   reason,
		Details:  details,
		Code:     code,
	})
}

// BadRequest refuses a request that cannot be understood (400).
func BadRequest(message string) *api.StatusError {
	return failure(http.StatusBadRequest, api.ReasonBadRequest, message, nil)
}

// Unauthorized refuses a request whose user is not known (401).
func Unauthorized() *api.StatusError {
	return failure(http.StatusUnauthorized, api.ReasonUnauthorized, "Unauthorized", nil)
}

// MethodNotAllowed refuses a verb that the resource does not have (405).
func MethodNotAllowed(message string) *api.StatusError {
	return failure(http.StatusMethodNotAllowed, api.ReasonMethodNotAllowed, message, &api.StatusDetails{})
}

// MethodNotSupported is [MethodNotAllowed] with the sentence for a verb ("create", "delete") and the resource that lacks it.
func MethodNotSupported(group, resource, verb string) *api.StatusError {
	err := MethodNotAllowed(verb + ` is not supported on resources of kind "` + groupResource(group, resource) + `"`)
	err.Status.Details = &api.StatusDetails{Group: group, Kind: resource}
	return err
}

// NotAcceptable refuses to answer in none of the forms that were asked for (406).
func NotAcceptable(message string) *api.StatusError {
	return failure(http.StatusNotAcceptable, api.ReasonNotAcceptable, message, nil)
}

// RequestEntityTooLarge refuses a body that is larger than the server takes (413); message is "limit is 3145728".
func RequestEntityTooLarge(message string) *api.StatusError {
	return failure(http.StatusRequestEntityTooLarge, api.ReasonRequestEntityTooLarge, "Request entity too large: "+message, nil)
}

// UnsupportedMediaType refuses a body in a form that the server does not read (415).
func UnsupportedMediaType(message string) *api.StatusError {
	return failure(http.StatusUnsupportedMediaType, api.ReasonUnsupportedMediaType, message, nil)
}

// TooManyRequests asks for patience (429); retryAfter is in seconds, 0 for no advice.
func TooManyRequests(message string, retryAfter int) *api.StatusError {
	return failure(http.StatusTooManyRequests, api.ReasonTooManyRequests, message, &api.StatusDetails{RetryAfterSeconds: retryAfter})
}

// InternalError says that the server failed, and at what (500).
func InternalError(err error) *api.StatusError {
	return failure(http.StatusInternalServerError, api.ReasonInternalError, "Internal error occurred: "+err.Error(),
		&api.StatusDetails{Causes: []api.StatusCause{{Message: err.Error()}}})
}

// ServiceUnavailable says that nobody is there to answer (503).
func ServiceUnavailable(message string) *api.StatusError {
	return failure(http.StatusServiceUnavailable, api.ReasonServiceUnavailable, message, nil)
}

// Timeout says that the request took longer than the server allows (504); retryAfter is in seconds, 0 for no advice.
func Timeout(message string, retryAfter int) *api.StatusError {
	return failure(http.StatusGatewayTimeout, api.ReasonTimeout, "Timeout: "+message,
		&api.StatusDetails{RetryAfterSeconds: retryAfter})
}

// Expired says that a version or a continue token is too old (410).
func Expired(message string) *api.StatusError {
	return failure(http.StatusGone, api.ReasonExpired, message, nil)
}

// Unclassified is a failure that kube-apiserver has no reason for: errors of its storage that come out as they are (500).
func Unclassified(message string) *api.StatusError {
	return failure(http.StatusInternalServerError, api.ReasonUnknown, message, nil)
}
