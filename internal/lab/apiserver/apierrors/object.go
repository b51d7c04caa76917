package apierrors

import (
	"fmt"
	"net/http"
	"strings"

	"orrery/restclient/api"
)

// The reasons that [Conflict] is given.
const (
	// ObjectModified is the conflict of optimistic concurrency: the writer had seen another version.
	ObjectModified = "the object has been modified; please apply your changes to the latest version and try again"
)

// groupResource returns "configmaps" or "deployments.apps", as messages name a resource.
func groupResource(group, resource string) string {
	if group == "" {
		return resource
	}
	return resource + "." + group
}

func details(group, resource, name string) *api.StatusDetails {
	return &api.StatusDetails{Name: name, Group: group, Kind: resource}
}

// NotFound says that there is no such object (404).
func NotFound(group, resource, name string) *api.StatusError {
	return failure(http.StatusNotFound, api.ReasonNotFound,
		fmt.Sprintf("%s %q not found", groupResource(group, resource), name), details(group, resource, name))
}

// ResourceNotFound says that the server has no such resource, or nothing at that path (404).
func ResourceNotFound() *api.StatusError {
	return failure(http.StatusNotFound, api.ReasonNotFound, "the server could not find the requested resource", &api.StatusDetails{})
}

// AlreadyExists says that the name is taken (409).
func AlreadyExists(group, resource, name string) *api.StatusError {
	return failure(http.StatusConflict, api.ReasonAlreadyExists,
		fmt.Sprintf("%s %q already exists", groupResource(group, resource), name), details(group, resource, name))
}

// GenerateNameConflict says that every name that was made up from metadata.generateName is taken; name is the last (409).
func GenerateNameConflict(group, resource, name string) *api.StatusError {
	d := details(group, resource, name)
	d.RetryAfterSeconds = 1
	return failure(http.StatusConflict, api.ReasonAlreadyExists, fmt.Sprintf(
		"%s %q already exists, the server was not able to generate a unique name for the object",
		groupResource(group, resource), name), d)
}

// Conflict says that the operation does not fit the state of the object (409); reason is [ObjectModified], or what
// precondition does not hold.
func Conflict(group, resource, name, reason string) *api.StatusError {
	return failure(http.StatusConflict, api.ReasonConflict, fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s",
		groupResource(group, resource), name, reason), details(group, resource, name))
}

// Invalid says what is wrong with the fields of an object (422). It is named by its kind, not by its resource. The same
// sentence is said once, but each field error is a cause.
func Invalid(group, kind, name string, errs []FieldError) *api.StatusError {
	d := details(group, kind, name)
	var sentences []string
	said := map[string]bool{}
	for _, err := range errs {
		d.Causes = append(d.Causes, api.StatusCause{Type: err.Type, Message: err.Body(), Field: err.Field})
		if sentence := err.Error(); !said[sentence] {
			said[sentence] = true
			sentences = append(sentences, sentence)
		}
	}
	message := fmt.Sprintf("%s %q is invalid", groupResource(group, kind), name)
	switch len(sentences) {
	case 0:
	case 1:
		message += ": " + sentences[0]
	default:
		message += ": [" + strings.Join(sentences, ", ") + "]"
	}
	return failure(http.StatusUnprocessableEntity, api.ReasonInvalid, message, d)
}

// Forbidden says that this is not allowed, and why (403). A name or a resource that is empty is left out.
func Forbidden(group, resource, name, why string) *api.StatusError {
	message := "forbidden: " + why
	switch {
	case resource == "":
	case name == "":
		message = fmt.Sprintf("%s is %s", groupResource(group, resource), message)
	default:
		message = fmt.Sprintf("%s %q is %s", groupResource(group, resource), name, message)
	}
	return failure(http.StatusForbidden, api.ReasonForbidden, message, details(group, resource, name))
}

// NamespaceTerminating refuses new content in a namespace that is being deleted (403). This is the rule of the design
// document, "Admission control blocks creation of new resources in that namespace": the cause is what a controller
// recognises it by.
func NamespaceTerminating(group, resource, name, namespace string) *api.StatusError {
	err := Forbidden(group, resource, name,
		fmt.Sprintf("unable to create new content in namespace %s because it is being terminated", namespace))
	err.Status.Details.Causes = []api.StatusCause{{
		Type:    api.CauseNamespaceTerminating,
		Message: fmt.Sprintf("namespace %s is being terminated", namespace),
		Field:   "metadata.namespace",
	}}
	return err
}

// TooLargeVersion says that the server has not reached the version that was asked for (504). The client is to try again,
// or to ask without a version.
func TooLargeVersion(asked, current uint64) *api.StatusError {
	err := Timeout(fmt.Sprintf("Too large resource version: %d, current: %d", asked, current), 1)
	err.Status.Details.Causes = []api.StatusCause{{
		Type: api.CauseResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return err
}

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
