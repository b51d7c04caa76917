package api

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// StatusError is a refused request.
type StatusError struct {
	Status Status
	// RetryAfter is how long the server asked to wait; 0 if it did not say.
	RetryAfter time.Duration
	// Verb is the HTTP method and URL the address of the request, without secrets; empty for the ERROR event of a
	// watch. They are not part of the message, which ends up in conditions, where only what the server said belongs.
	Verb, URL string
}

// maxRetryAfterSeconds is the longest delay that a field of Kubernetes can ask for. JSON can ask for more than a
// time.Duration holds.
const maxRetryAfterSeconds = math.MaxInt32

// NewStatusError makes an error of a refusal, with the delay that its details ask for.
func NewStatusError(status Status) *StatusError {
	e := &StatusError{Status: status}
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		e.RetryAfter = time.Duration(min(status.Details.RetryAfterSeconds, maxRetryAfterSeconds)) * time.Second
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
