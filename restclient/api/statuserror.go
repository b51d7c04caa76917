package api

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"
)

// StatusError is a refused request: the server answered, and the answer is no. The caller decides
// by the Is... functions below, never by the message.
type StatusError struct {
	Status Status
	// RetryAfter is how long the server asked to wait; 0 if it did not say.
	RetryAfter time.Duration
	// Verb is the HTTP method and URL the address of the request, without secrets; empty for the ERROR event of a
	// watch. They are not part of the message, which ends up in conditions, where only what the server said belongs.
	Verb, URL string
}

// NewStatusError returns the error for a refusal, with the delay that its details ask for.
func NewStatusError(status Status) *StatusError {
	e := &StatusError{Status: status}
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		// JSON can ask for more than a time.Duration holds.
		e.RetryAfter = time.Duration(min(status.Details.RetryAfterSeconds, math.MaxInt32)) * time.Second
	}
	return e
}

// Error returns the server's message, or a sentence made of reason and code if it sent none.
func (e *StatusError) Error() string {
	if e.Status.Message != "" {
		return e.Status.Message
	}
	return fmt.Sprintf("the server answered %d %s", e.Status.Code, e.Reason())
}

// Reason returns the reason that the server gave, or the one that its HTTP code stands for.
func (e *StatusError) Reason() StatusReason {
	if e.Status.Reason != ReasonUnknown {
		return e.Status.Reason
	}
	return ReasonForCode(e.Status.Code, false)
}

// HasCause reports whether the refusal names the cause.
func (e *StatusError) HasCause(cause CauseType) bool {
	if e.Status.Details == nil {
		return false
	}
	for _, c := range e.Status.Details.Causes {
		if c.Type == cause {
			return true
		}
	}
	return false
}

// classification is the one table of the HTTP code that each reason goes with. Where several reasons share a code, the
// first is what the code means when it comes alone, for instance from a proxy.
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

// ReasonForCode returns the reason that an HTTP code stands for when a server gave none, or [ReasonUnknown]. A conflict
// (409) on a create means that the name is taken. Codes from 500 that are not in the table are internal errors.
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

// HasReason reports whether err is a refusal with this reason. A reason that the table does not have, or none, is derived
// from the code.
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

// IsNotFound reports whether the object or the resource does not exist (404).
func IsNotFound(err error) bool { return HasReason(err, ReasonNotFound) }

// IsAlreadyExists reports whether a create met an existing object of that name (409 with its own reason).
func IsAlreadyExists(err error) bool { return HasReason(err, ReasonAlreadyExists) }

// IsConflict reports whether an update or delete was based on an outdated state (409). Read the object again and repeat.
func IsConflict(err error) bool { return HasReason(err, ReasonConflict) }

// IsForbidden reports whether the user is not allowed to do this (403).
func IsForbidden(err error) bool { return HasReason(err, ReasonForbidden) }

// IsUnauthorized reports whether the server does not know the user (401).
func IsUnauthorized(err error) bool { return HasReason(err, ReasonUnauthorized) }

// IsMethodNotAllowed reports whether the resource lacks the verb (405).
func IsMethodNotAllowed(err error) bool { return HasReason(err, ReasonMethodNotAllowed) }

// IsInvalid reports whether the request was understood and found invalid (422).
func IsInvalid(err error) bool { return HasReason(err, ReasonInvalid) }

// IsBadRequest reports whether the server did not understand the request (400).
func IsBadRequest(err error) bool { return HasReason(err, ReasonBadRequest) }

// IsTooManyRequests reports whether the server is rate limiting the client (429). [RetryAfterOf] returns the wait, if any.
func IsTooManyRequests(err error) bool { return HasReason(err, ReasonTooManyRequests) }

// IsInternalError reports whether the server failed (500).
func IsInternalError(err error) bool { return HasReason(err, ReasonInternalError) }

// IsServiceUnavailable reports whether the server cannot handle the request now (503).
func IsServiceUnavailable(err error) bool { return HasReason(err, ReasonServiceUnavailable) }

// IsTimeout reports whether the request took longer than the server allows (504). It may still take effect.
func IsTimeout(err error) bool { return HasReason(err, ReasonTimeout) }

// IsExpired reports whether a resource version or a continue token is too old (410). Servers give either of two reasons. The
// code decides even if the reason names another row of the table. List again.
func IsExpired(err error) bool {
	return HasReason(err, ReasonExpired) || HasReason(err, ReasonGone) || CodeOf(err) == http.StatusGone
}

// IsTooLargeResourceVersion reports whether the server has not yet reached the requested version, which happens when a client moves from an
// up-to-date replica to one that lags.
func IsTooLargeResourceVersion(err error) bool { return hasCause(err, CauseResourceVersionTooLarge) }

// IsNamespaceTerminating reports whether a create was refused because its namespace is being deleted.
func IsNamespaceTerminating(err error) bool { return hasCause(err, CauseNamespaceTerminating) }

func hasCause(err error, cause CauseType) bool {
	refused, ok := errors.AsType[*StatusError](err)
	return ok && refused.HasCause(cause)
}

// ReasonOf returns the reason of the first [*StatusError] that err wraps, or [ReasonUnknown].
func ReasonOf(err error) StatusReason {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.Reason()
	}
	return ReasonUnknown
}

// CodeOf returns the HTTP code of the first [*StatusError] that err wraps, or 0.
func CodeOf(err error) int {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.Status.Code
	}
	return 0
}

// RetryAfterOf returns how long the server asked to wait, or 0.
func RetryAfterOf(err error) time.Duration {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.RetryAfter
	}
	return 0
}
