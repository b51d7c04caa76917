package api

import (
	"errors"
	"net/http"
)

// classification is the one place that says which HTTP code a reason goes with. Where several reasons share a code, the
// first is what the code means when it comes alone, from a proxy for instance.
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

// knownReasons and reasonForCode are the table, turned round for look-ups. Written once here, only read afterwards.
var knownReasons, reasonForCode = func() (map[StatusReason]bool, map[int]StatusReason) {
	known, byCode := map[StatusReason]bool{}, map[int]StatusReason{}
	for _, row := range classification {
		known[row.reason] = true
		if _, taken := byCode[row.code]; !taken {
			byCode[row.code] = row.reason
		}
	}
	return known, byCode
}()

// ReasonForCode returns the reason that an HTTP code stands for when a server gave none, or [ReasonUnknown]. A conflict
// (409) on a create means that the name is taken. Codes from 500 that are not in the table are internal errors.
func ReasonForCode(code int, create bool) StatusReason {
	switch reason, known := reasonForCode[code]; {
	case code == http.StatusConflict && create:
		return ReasonAlreadyExists
	case known:
		return reason
	case code >= 500 && code <= 599:
		return ReasonInternalError
	}
	return ReasonUnknown
}

// is tells whether err is a refusal for this reason. A reason that this package knows is taken at its word; one that it
// does not know (a newer server's, or none) gives way to the code.
func is(err error, reason StatusReason) bool {
	refused, ok := errors.AsType[*StatusError](err)
	if !ok {
		return false
	}
	if knownReasons[refused.Status.Reason] {
		return refused.Status.Reason == reason
	}
	return ReasonForCode(refused.Status.Code, false) == reason
}

// IsNotFound tells whether the object or the resource does not exist (404).
func IsNotFound(err error) bool { return is(err, ReasonNotFound) }

// IsAlreadyExists tells whether a create met an object of that name (409 with its own reason).
func IsAlreadyExists(err error) bool { return is(err, ReasonAlreadyExists) }

// IsConflict tells whether an update or delete was based on an outdated state (409).
func IsConflict(err error) bool { return is(err, ReasonConflict) }

// IsForbidden tells whether the user is not allowed to do this (403).
func IsForbidden(err error) bool { return is(err, ReasonForbidden) }

// IsUnauthorized tells whether the user is not known (401).
func IsUnauthorized(err error) bool { return is(err, ReasonUnauthorized) }

// IsMethodNotAllowed tells whether the resource does not have the verb (405).
func IsMethodNotAllowed(err error) bool { return is(err, ReasonMethodNotAllowed) }

// IsNotAcceptable tells whether the server cannot answer in any of the forms that were asked for (406).
func IsNotAcceptable(err error) bool { return is(err, ReasonNotAcceptable) }

// IsUnsupportedMediaType tells whether the server does not understand the form of the request's body (415).
func IsUnsupportedMediaType(err error) bool { return is(err, ReasonUnsupportedMediaType) }

// IsRequestEntityTooLarge tells whether the request's body is larger than the server takes (413).
func IsRequestEntityTooLarge(err error) bool { return is(err, ReasonRequestEntityTooLarge) }

// IsInvalid tells whether the request was understood and found wrong (422).
func IsInvalid(err error) bool { return is(err, ReasonInvalid) }

// IsBadRequest tells whether the request was not understood (400).
func IsBadRequest(err error) bool { return is(err, ReasonBadRequest) }

// IsTooManyRequests tells whether the server asks for patience (429).
func IsTooManyRequests(err error) bool { return is(err, ReasonTooManyRequests) }

// IsInternalError tells whether the server failed (500).
func IsInternalError(err error) bool { return is(err, ReasonInternalError) }

// IsServiceUnavailable tells whether nobody is there to answer (503).
func IsServiceUnavailable(err error) bool { return is(err, ReasonServiceUnavailable) }

// IsTimeout tells whether the request took longer than the server allows; it may still take effect (504).
func IsTimeout(err error) bool { return is(err, ReasonTimeout) }

// IsServerTimeout tells whether the server could not finish in time and asks to try again (500 with its own reason).
func IsServerTimeout(err error) bool { return is(err, ReasonServerTimeout) }

// IsStoreReadError tells whether the server cannot read an object from its storage (500 with its own reason).
func IsStoreReadError(err error) bool { return is(err, ReasonStoreReadError) }

// IsExpired tells whether a resource version or a continue token is too old (410), by either of the two reasons
// that servers give or by the code alone: the ERROR event of a watch may carry only one of them.
func IsExpired(err error) bool {
	refused, ok := errors.AsType[*StatusError](err)
	return ok && (refused.Status.Reason == ReasonExpired || refused.Status.Reason == ReasonGone ||
		refused.Status.Code == http.StatusGone)
}

// IsGone is IsExpired under the name of the HTTP code.
func IsGone(err error) bool { return IsExpired(err) }

// IsTooLargeResourceVersion tells whether the server has not reached the requested version yet, which happens
// when a client moves from an up-to-date replica to one that lags.
func IsTooLargeResourceVersion(err error) bool { return hasCause(err, CauseResourceVersionTooLarge) }

// IsNamespaceTerminating tells whether a create was refused because its namespace is being deleted.
func IsNamespaceTerminating(err error) bool { return hasCause(err, CauseNamespaceTerminating) }

func hasCause(err error, cause CauseType) bool {
	refused, ok := errors.AsType[*StatusError](err)
	return ok && refused.HasCause(cause)
}
