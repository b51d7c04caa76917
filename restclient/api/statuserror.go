package api

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"
)

// StatusError is a refused request. The caller decides by the Is... functions below, never by the
// message.
type StatusError struct {
	Status Status
	// RetryAfter is the delay that the server requested; 0 if none.
	RetryAfter time.Duration
	// Verb is the HTTP method and URL the address of the request, without secrets; empty for the
	// ERROR event of a watch. They are not part of the message, because that ends up in conditions.
	Verb, URL string
}

// NewStatusError returns a new error for a refusal, without Verb and URL. RetryAfter is the delay
// in status.Details, if they are present and their RetryAfterSeconds is positive, and 0 otherwise.
// More than math.MaxInt32 seconds count as math.MaxInt32: JSON can hold more than a time.Duration.
func NewStatusError(status Status) *StatusError {
	e := &StatusError{Status: status}
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		e.RetryAfter = time.Duration(min(status.Details.RetryAfterSeconds, math.MaxInt32)) * time.Second
	}
	return e
}

// Error returns the server's message, or a sentence with reason and code if there is none.
func (e *StatusError) Error() string {
	if e.Status.Message != "" {
		return e.Status.Message
	}
	return fmt.Sprintf("the server answered %d %s", e.Status.Code, e.Reason())
}

// Reason returns the server's reason, or the one for its HTTP code.
func (e *StatusError) Reason() StatusReason {
	if e.Status.Reason != ReasonUnknown {
		return e.Status.Reason
	}
	return ReasonForCode(e.Status.Code, false)
}

// HasCause reports whether the refusal has this cause.
func (e *StatusError) HasCause(cause CauseType) bool {
	is := func(c StatusCause) bool { return c.Type == cause }
	return e.Status.Details != nil && slices.ContainsFunc(e.Status.Details.Causes, is)
}

// classification is the one table of reasons and their HTTP codes. Where several reasons share a
// code, the first is the meaning of the code alone, for instance from a proxy.
var classification = []struct {
	reason StatusReason
	code   int
}{
	{ReasonBadRequest, http.StatusBadRequest},
	{ReasonUnauthorized, http.StatusUnauthorized},
	{ReasonForbidden, http.StatusForbidden},
	{ReasonNotFound, http.StatusNotFound},
	{ReasonMethodNotAllowed, http.StatusMethodNotAllowed},
	{ReasonNotAcceptable, http.StatusNotAcceptable},
	{ReasonConflict, http.StatusConflict},
	{ReasonAlreadyExists, http.StatusConflict},
	{ReasonExpired, http.StatusGone},
	{ReasonGone, http.StatusGone},
	{ReasonRequestEntityTooLarge, http.StatusRequestEntityTooLarge},
	{ReasonUnsupportedMediaType, http.StatusUnsupportedMediaType},
	{ReasonInvalid, http.StatusUnprocessableEntity},
	{ReasonTooManyRequests, http.StatusTooManyRequests},
	{ReasonInternalError, http.StatusInternalServerError},
	{ReasonServerTimeout, http.StatusInternalServerError},
	{ReasonStoreReadError, http.StatusInternalServerError},
	{ReasonServiceUnavailable, http.StatusServiceUnavailable},
	{ReasonTimeout, http.StatusGatewayTimeout},
}

// ReasonForCode returns the reason for an HTTP code without one, or [ReasonUnknown]. A conflict
// (409) on a create means that the name exists. Codes from 500 that are not in the table are
// internal errors.
func ReasonForCode(code int, create bool) StatusReason {
	if code == http.StatusConflict && create {
		return ReasonAlreadyExists
	}
	for _, row := range classification {
		if row.code == code {
			return row.reason
		}
	}
	if code >= 500 && code <= 599 {
		return ReasonInternalError
	}
	return ReasonUnknown
}

// HasReason reports whether err is a refusal with this reason. An unknown or missing reason is
// derived from the code.
func HasReason(err error, reason StatusReason) bool {
	refused, ok := errors.AsType[*StatusError](err)
	if !ok {
		return false
	}
	for _, row := range classification {
		if row.reason == refused.Status.Reason {
			return row.reason == reason
		}
	}
	return ReasonForCode(refused.Status.Code, false) == reason
}

// IsNotFound reports a 404: no such object or resource.
func IsNotFound(err error) bool { return HasReason(err, ReasonNotFound) }

// IsAlreadyExists reports a 409 with this reason: the name of a new object is taken.
func IsAlreadyExists(err error) bool { return HasReason(err, ReasonAlreadyExists) }

// IsConflict reports any other 409: the write is based on an outdated state. Read the object again
// and repeat.
func IsConflict(err error) bool { return HasReason(err, ReasonConflict) }

// IsForbidden reports a 403: the user must not do this.
func IsForbidden(err error) bool { return HasReason(err, ReasonForbidden) }

// IsUnauthorized reports a 401: the user is not known.
func IsUnauthorized(err error) bool { return HasReason(err, ReasonUnauthorized) }

// IsMethodNotAllowed reports a 405: the resource lacks the verb.
func IsMethodNotAllowed(err error) bool { return HasReason(err, ReasonMethodNotAllowed) }

// IsInvalid reports a 422: understood, and found invalid.
func IsInvalid(err error) bool { return HasReason(err, ReasonInvalid) }

// IsBadRequest reports a 400: not understood.
func IsBadRequest(err error) bool { return HasReason(err, ReasonBadRequest) }

// IsTooManyRequests reports a 429: later; see RetryAfterOf.
func IsTooManyRequests(err error) bool { return HasReason(err, ReasonTooManyRequests) }

// IsInternalError reports a 500: the server failed.
func IsInternalError(err error) bool { return HasReason(err, ReasonInternalError) }

// IsServiceUnavailable reports a 503: not now.
func IsServiceUnavailable(err error) bool { return HasReason(err, ReasonServiceUnavailable) }

// IsTimeout reports a 504: the request took longer than the server allows. It may
// still take effect.
func IsTimeout(err error) bool { return HasReason(err, ReasonTimeout) }

// IsExpired reports whether a resource version or a continue token is too old: list again. It looks
// at the first [*StatusError] that err is or wraps. Each of these alone is enough:
//   - the reason [ReasonExpired] or [ReasonGone]: servers use both, and an ERROR event may have
//     another code, or none;
//   - the code 410: a proxy sends no reason, and some servers send one that belongs to another
//     code.
func IsExpired(err error) bool {
	return HasReason(err, ReasonExpired) || HasReason(err, ReasonGone) || CodeOf(err) == http.StatusGone
}

// IsTooLargeResourceVersion reports whether the server has not yet reached the requested version,
// which happens when a client moves to a replica that lags.
func IsTooLargeResourceVersion(err error) bool { return hasCause(err, CauseResourceVersionTooLarge) }

// IsNamespaceTerminating reports whether a create was refused because its namespace is being
// deleted.
func IsNamespaceTerminating(err error) bool { return hasCause(err, CauseNamespaceTerminating) }

func hasCause(err error, cause CauseType) bool {
	refused, ok := errors.AsType[*StatusError](err)
	return ok && refused.HasCause(cause)
}

// ReasonOf returns the reason of the first [*StatusError] that err is or wraps, or [ReasonUnknown]
// if there is none. The server's reason counts, even one that is not in the table; if it is
// missing, the code decides, as in [StatusError.Reason].
func ReasonOf(err error) StatusReason {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.Reason()
	}
	return ReasonUnknown
}

// CodeOf returns the HTTP code of the first [*StatusError] that err is or wraps, or 0.
func CodeOf(err error) int {
	if refused, ok := errors.AsType[*StatusError](err); ok {
		return refused.Status.Code
	}
	return 0
}

// RetryAfterOf returns the delay that the server requested, in the details of the refusal or in a
// header: the RetryAfter of the first [*StatusError] that err is or wraps, or 0 if there is none.
func RetryAfterOf(err error) time.Duration {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.RetryAfter
	}
	return 0
}
