package wait

import (
	"context"
	"errors"
)

// ErrWaitTimeout says that waiting ended before the condition came true. The
// first generation of the Poll family and [ExponentialBackoff] return it. Ask
// with [Interrupted], which knows the second generation's errors as well.
var ErrWaitTimeout error = &interruptedError{}

// Interrupted reports whether err says that a wait ended because time was up
// or somebody stopped it, in contrast to a condition that failed. It is true
// for [ErrWaitTimeout], for errors of [ErrorInterrupted], for context.Canceled
// and for context.DeadlineExceeded, also when wrapped.
func Interrupted(err error) bool {
	var interrupted *interruptedError
	return errors.As(err, &interrupted) ||
		errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// ErrorInterrupted returns an error for which [Interrupted] is true, that
// reads like cause and wraps it. A cause that is such an error already is
// returned as it is; without a cause the result is [ErrWaitTimeout].
func ErrorInterrupted(cause error) error {
	if cause == nil {
		return ErrWaitTimeout
	}
	var interrupted *interruptedError
	if errors.As(cause, &interrupted) {
		return cause
	}
	return &interruptedError{cause: cause}
}

// interruptedError marks a wait that ended early. cause may be nil.
type interruptedError struct{ cause error }

func (e *interruptedError) Error() string {
	if e.cause == nil {
		return "timed out waiting for the condition"
	}
	return e.cause.Error()
}

func (e *interruptedError) Unwrap() error { return e.cause }

// Is makes every interruption match ErrWaitTimeout, as it does in Kubernetes,
// so that code written for the old constant keeps working.
func (e *interruptedError) Is(target error) bool { return target == ErrWaitTimeout }
