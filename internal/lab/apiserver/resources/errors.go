package resources

import (
	"fmt"
	"net/http"
	"strings"

	"orrery/restclient/api"
)

// This file has a constructor for each error of the API, with the code, reason and message of
// kube-apiserver 1.36:
//
//	about an object        NotFound, AlreadyExists, Conflict, Invalid, Forbidden,
//	                       NamespaceTerminating
//	about a version        Expired, TooLargeVersion
//	about a request        BadRequest, MethodNotAllowed, NotAcceptable, UnsupportedMediaType, RequestEntityTooLarge
//	about the user         Unauthorized
//	about the server       ServiceUnavailable, InternalError, Unclassified
//
// [Invalid] combines [FieldError] values. Every call returns a new error that the caller may
// change. Group "" is the core group. Package restclient/api distinguishes these errors (IsNotFound
// and so on).

// ObjectModified is the reason for a [Conflict] of optimistic concurrency: the client has updated
// an older version.
const ObjectModified = "the object has been modified; please apply your changes to the latest version and try again"

// Qualified returns "configmaps" or "deployments.apps", as in messages.
func Qualified(group, resource string) string {
	return api.GroupVersionResource{Group: group, Resource: resource}.TypeName()
}

func details(group, resource, name string) *api.StatusDetails {
	return &api.StatusDetails{Name: name, Group: group, Kind: resource}
}

// NotFound reports that an object does not exist (404).
func NotFound(group, resource, name string) *api.StatusError {
	return Failure(http.StatusNotFound, api.ReasonNotFound,
		fmt.Sprintf("%s %q not found", Qualified(group, resource), name), details(group, resource, name))
}

// ResourceNotFound reports that the server has no such resource (404).
func ResourceNotFound() *api.StatusError {
	return Failure(http.StatusNotFound, api.ReasonNotFound, "the server could not find the requested resource",
		&api.StatusDetails{})
}

// AlreadyExists reports that the name is taken (409).
func AlreadyExists(group, resource, name string) *api.StatusError {
	return Failure(http.StatusConflict, api.ReasonAlreadyExists,
		fmt.Sprintf("%s %q already exists", Qualified(group, resource), name), details(group, resource, name))
}

// Conflict reports that the operation conflicts with the state of the object (409). reason is
// [ObjectModified] or the failed precondition.
func Conflict(group, resource, name, reason string) *api.StatusError {
	return Failure(http.StatusConflict, api.ReasonConflict, fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s",
		Qualified(group, resource), name, reason), details(group, resource, name))
}

// Invalid reports errors in the fields of an object (422), which is named by its kind, not its
// resource. The message has each error once, but every error is a cause.
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
	message := fmt.Sprintf("%s %q is invalid", Qualified(group, kind), name)
	switch len(sentences) {
	case 0:
	case 1:
		message += ": " + sentences[0]
	default:
		message += ": [" + strings.Join(sentences, ", ") + "]"
	}
	return Failure(http.StatusUnprocessableEntity, api.ReasonInvalid, message, d)
}

// Forbidden reports that an action is not allowed (403). An empty name or resource is omitted.
func Forbidden(group, resource, name, why string) *api.StatusError {
	message := "forbidden: " + why
	switch {
	case resource == "":
	case name == "":
		message = fmt.Sprintf("%s is %s", Qualified(group, resource), message)
	default:
		message = fmt.Sprintf("%s %q is %s", Qualified(group, resource), name, message)
	}
	return Failure(http.StatusForbidden, api.ReasonForbidden, message, details(group, resource, name))
}

// NamespaceTerminating refuses new content in a terminating namespace (403), as the design document
// says: "Admission control blocks creation of new resources in that namespace". Controllers
// recognize it by its cause.
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

// TooLargeVersion reports that the server has not reached the requested version (504). The client
// should retry, or read without a version.
func TooLargeVersion(asked, current uint64) *api.StatusError {
	const message = "Too large resource version"
	return Failure(http.StatusGatewayTimeout, api.ReasonTimeout,
		fmt.Sprintf("Timeout: %s: %d, current: %d", message, asked, current), &api.StatusDetails{
			RetryAfterSeconds: 1,
			Causes:            []api.StatusCause{{Type: api.CauseResourceVersionTooLarge, Message: message}},
		})
}

// Failure returns an error of the server. All other constructors use it.
func Failure(code int, reason api.StatusReason, message string, details *api.StatusDetails) *api.StatusError {
	return api.NewStatusError(api.Status{
		TypeMeta: api.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   api.StatusFailure,
		Message:  message,
		Reason:   reason,
		Details:  details,
		Code:     code,
	})
}

// BadRequest reports an invalid request (400).
func BadRequest(message string) *api.StatusError {
	return Failure(http.StatusBadRequest, api.ReasonBadRequest, message, nil)
}

// Unauthorized reports that the user is unknown (401).
func Unauthorized() *api.StatusError {
	return Failure(http.StatusUnauthorized, api.ReasonUnauthorized, "Unauthorized", nil)
}

// MethodNotAllowed reports a verb that the resource does not support (405).
func MethodNotAllowed() *api.StatusError {
	return Failure(http.StatusMethodNotAllowed, api.ReasonMethodNotAllowed,
		"the server does not allow this method on the requested resource", &api.StatusDetails{})
}

// NotAcceptable reports that none of the requested forms is available (406).
func NotAcceptable(message string) *api.StatusError {
	return Failure(http.StatusNotAcceptable, api.ReasonNotAcceptable, message, nil)
}

// RequestEntityTooLarge reports a body that is too large (413).
func RequestEntityTooLarge(limit int) *api.StatusError {
	return Failure(http.StatusRequestEntityTooLarge, api.ReasonRequestEntityTooLarge,
		fmt.Sprintf("Request entity too large: limit is %d", limit), nil)
}

// UnsupportedMediaType reports an unsupported content type (415).
func UnsupportedMediaType(message string) *api.StatusError {
	return Failure(http.StatusUnsupportedMediaType, api.ReasonUnsupportedMediaType, message, nil)
}

// InternalError reports an error of the server (500).
func InternalError(err error) *api.StatusError {
	return Failure(http.StatusInternalServerError, api.ReasonInternalError, "Internal error occurred: "+err.Error(),
		&api.StatusDetails{Causes: []api.StatusCause{{Message: err.Error()}}})
}

// ServiceUnavailable reports that the server cannot answer (503).
func ServiceUnavailable(message string) *api.StatusError {
	return Failure(http.StatusServiceUnavailable, api.ReasonServiceUnavailable, message, nil)
}

// Expired reports that a version or continue token is too old (410).
func Expired(message string) *api.StatusError {
	return Failure(http.StatusGone, api.ReasonExpired, message, nil)
}

// Unclassified is an error without a reason (500), as kube-apiserver returns for some errors of its
// storage.
func Unclassified(message string) *api.StatusError {
	return Failure(http.StatusInternalServerError, api.ReasonUnknown, message, nil)
}

// The kinds of field errors, as causes of a Status name them.
const (
	FieldRequired     api.CauseType = "FieldValueRequired"
	FieldInvalid      api.CauseType = "FieldValueInvalid"
	FieldTypeInvalid  api.CauseType = "FieldValueTypeInvalid"
	FieldNotSupported api.CauseType = "FieldValueNotSupported"
	FieldDuplicate    api.CauseType = "FieldValueDuplicate"
	FieldForbidden    api.CauseType = "FieldValueForbidden"
	FieldTooLong      api.CauseType = "FieldValueTooLong"
	FieldTooMany      api.CauseType = "FieldValueTooMany"
)

// kinds are the texts of the kinds, and whether the value is shown.
var kinds = map[api.CauseType]struct {
	words string
	value bool
}{
	FieldRequired:     {words: "Required value"},
	FieldInvalid:      {words: "Invalid value", value: true},
	FieldTypeInvalid:  {words: "Invalid value", value: true},
	FieldNotSupported: {words: "Unsupported value", value: true},
	FieldDuplicate:    {words: "Duplicate value", value: true},
	FieldForbidden:    {words: "Forbidden"},
	FieldTooLong:      {words: "Too long"},
	FieldTooMany:      {words: "Too many", value: true},
}

// FieldError is one error in one field of an object.
type FieldError struct {
	// Type is one of the Field... constants.
	Type api.CauseType
	// Field is the path, such as "metadata.labels" or "spec.containers[0].name".
	Field string
	// Value is the invalid value.
	Value any
	// Detail says what is valid; it may be empty.
	Detail string
}

// Error returns the message with the field: `metadata.name: Invalid value: "A": ...`.
func (e FieldError) Error() string { return e.Field + ": " + e.Body() }

// Body returns the message without the field, as in a cause.
func (e FieldError) Body() string {
	kind := kinds[e.Type]
	text := kind.words
	if kind.value {
		text += ": " + formatValue(e.Value)
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// formatValue quotes a string and encodes everything else as JSON.
func formatValue(value any) string {
	if text, ok := value.(string); ok {
		return fmt.Sprintf("%q", text)
	}
	return encoded(value)
}
