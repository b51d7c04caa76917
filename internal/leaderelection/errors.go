package leaderelection

import (
	"errors"
	"fmt"
	"time"
)

// LostError reports that this process was the leader and lost the lease without releasing it.
type LostError struct {
	// Lease is the Lease as namespace/name.
	Lease string
	// Holder is the new holder, or "" if none was seen.
	Holder string
	// Taken: the Lease has another holder, or none. Otherwise it could not be renewed for Deadline.
	Taken    bool
	Deadline time.Duration
	// Err is why the last renewal failed, or nil if none did because the process was stopped for a
	// while.
	Err error
}

func (e *LostError) Error() string {
	switch {
	case e.Taken && e.Holder != "":
		return fmt.Sprintf("leadership was lost: the Lease %s is held by %s", e.Lease, e.Holder)
	case e.Taken:
		return fmt.Sprintf("leadership was lost: the holder was removed from the Lease %s", e.Lease)
	case e.Err != nil:
		return fmt.Sprintf("leadership was lost: the Lease %s could not be renewed for %v: %v", e.Lease, e.Deadline, e.Err)
	}
	return fmt.Sprintf("leadership was lost: the Lease %s was not renewed for %v, this process was stopped or had no time", e.Lease, e.Deadline)
}

// Unwrap returns Err.
func (e *LostError) Unwrap() error { return e.Err }

// IsLost reports whether err comes from the end of this process's leadership: a [*LostError], or
// [ErrFenced] from a request in flight.
func IsLost(err error) bool {
	_, lost := errors.AsType[*LostError](err)
	return lost || errors.Is(err, ErrFenced)
}

// AccessError reports that this user cannot take part in the election: from the start, the server
// has refused several attempts in a row.
type AccessError struct {
	// Verb is the refused verb: get, create or update.
	Verb string
	// Namespace and Name are the Lease's.
	Namespace, Name string
	// Err is the server's answer.
	Err error
}

func (e *AccessError) Error() string {
	return fmt.Sprintf("leader election cannot %s the Lease %s/%s: %v", e.Verb, e.Namespace, e.Name, e.Err)
}

// Unwrap returns Err.
func (e *AccessError) Unwrap() error { return e.Err }
