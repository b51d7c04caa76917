package api

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// StatusError is a refused request.
type StatusError struct {
	Status Status
	// RetryAfter is how long the server asked to wait; 0 if it did not say.
	RetryAfter time.Duration
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
	return reasonOfCode[e.Status.Code]
}

// HasCause tells whether the refusal names the cause.
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

// reasonOfCode is used where a server or a proxy in between sends a code without a Status.
var reasonOfCode = map[int]StatusReason{
	http.StatusBadRequest:            ReasonBadRequest,
	http.StatusUnauthorized:          ReasonUnauthorized,
	http.StatusForbidden:             ReasonForbidden,
	http.StatusNotFound:              ReasonNotFound,
	http.StatusMethodNotAllowed:      ReasonMethodNotAllowed,
	http.StatusNotAcceptable:         ReasonNotAcceptable,
	http.StatusConflict:              ReasonConflict,
	http.StatusGone:                  ReasonGone,
	http.StatusRequestEntityTooLarge: ReasonRequestEntityTooLarge,
	http.StatusUnsupportedMediaType:  ReasonUnsupportedMediaType,
	http.StatusUnprocessableEntity:   ReasonInvalid,
	http.StatusTooManyRequests:       ReasonTooManyRequests,
	http.StatusInternalServerError:   ReasonInternalError,
	http.StatusServiceUnavailable:    ReasonServiceUnavailable,
	http.StatusGatewayTimeout:        ReasonTimeout,
}

// ReasonOf returns the reason of the first [*StatusError] that err wraps, or [ReasonUnknown].
func ReasonOf(err error) StatusReason {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Reason()
	}
	return ReasonUnknown
}

// CodeOf returns the HTTP code of the first [*StatusError] that err wraps, or 0.
func CodeOf(err error) int {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Status.Code
	}
	return 0
}

// RetryAfterOf returns how long the server asked to wait, or 0.
func RetryAfterOf(err error) time.Duration {
	var status *StatusError
	if errors.As(err, &status) {
		return status.RetryAfter
	}
	return 0
}

func isReasonOrCode(err error, reason StatusReason, code int) bool {
	var status *StatusError
	if !errors.As(err, &status) {
		return false
	}
	return status.Status.Reason == reason || (status.Status.Reason == ReasonUnknown && status.Status.Code == code)
}

// IsNotFound tells whether the object or the resource does not exist (404).
func IsNotFound(err error) bool { return isReasonOrCode(err, ReasonNotFound, http.StatusNotFound) }

// IsAlreadyExists tells whether a create met an object of that name (409 with its own reason).
func IsAlreadyExists(err error) bool { return ReasonOf(err) == ReasonAlreadyExists }

// IsConflict tells whether an update or delete was based on an outdated state (409).
func IsConflict(err error) bool { return isReasonOrCode(err, ReasonConflict, http.StatusConflict) }

// IsForbidden tells whether the user is not allowed to do this (403).
func IsForbidden(err error) bool { return isReasonOrCode(err, ReasonForbidden, http.StatusForbidden) }

// IsUnauthorized tells whether the user is not known (401).
func IsUnauthorized(err error) bool {
	return isReasonOrCode(err, ReasonUnauthorized, http.StatusUnauthorized)
}

// IsMethodNotAllowed tells whether the resource does not have the verb (405).
func IsMethodNotAllowed(err error) bool {
	return isReasonOrCode(err, ReasonMethodNotAllowed, http.StatusMethodNotAllowed)
}

// IsInvalid tells whether the request was understood and found wrong (422).
func IsInvalid(err error) bool {
	return isReasonOrCode(err, ReasonInvalid, http.StatusUnprocessableEntity)
}

// IsBadRequest tells whether the request was not understood (400).
func IsBadRequest(err error) bool {
	return isReasonOrCode(err, ReasonBadRequest, http.StatusBadRequest)
}

// IsTooManyRequests tells whether the server asks for patience (429).
func IsTooManyRequests(err error) bool {
	return isReasonOrCode(err, ReasonTooManyRequests, http.StatusTooManyRequests)
}

// IsInternalError tells whether the server failed (500).
func IsInternalError(err error) bool {
	return isReasonOrCode(err, ReasonInternalError, http.StatusInternalServerError)
}

// IsServiceUnavailable tells whether nobody is there to answer (503).
func IsServiceUnavailable(err error) bool {
	return isReasonOrCode(err, ReasonServiceUnavailable, http.StatusServiceUnavailable)
}

// IsExpired tells whether a resource version or a continue token is too old (410), by either of the two reasons
// that servers give or by the code alone: the ERROR event of a watch may carry only one of them.
func IsExpired(err error) bool {
	var status *StatusError
	if !errors.As(err, &status) {
		return false
	}
	s := status.Status
	return s.Reason == ReasonExpired || s.Reason == ReasonGone || s.Code == http.StatusGone
}

// IsTooLargeResourceVersion tells whether the server has not reached the requested version yet, which happens
// when a client moves from an up-to-date replica to one that lags.
func IsTooLargeResourceVersion(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.HasCause(CauseResourceVersionTooLarge)
}

// IsNamespaceTerminating tells whether a create was refused because its namespace is being deleted.
func IsNamespaceTerminating(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.HasCause(CauseNamespaceTerminating)
}
