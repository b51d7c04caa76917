package leaderelection

import (
	"fmt"
	"time"
)

// LostError says that this process led and does not any more, without having given the Lease back.
type LostError struct {
	// Lease is namespace and name.
	Lease string
	// Holder is who holds it now, if that was seen; "" if it was just not renewed in time, or nobody holds it.
	Holder string
	// Taken: the Lease was seen in other hands, or in nobody's. Otherwise it could not be renewed for Deadline.
	Taken    bool
	Deadline time.Duration
	// Err is why the last renewal failed; nil if none did, as when the process was stopped for a while.
	Err error
}

func (e *LostError) Error() string {
	switch {
	case e.Taken && e.Holder != "":
		return fmt.Sprintf("leadership was lost: the Lease %s is held by %s", e.Lease, e.Holder)
	case e.Taken:
		return fmt.Sprintf("leadership was lost: somebody has taken the holder out of the Lease %s", e.Lease)
	case e.Err != nil:
		return fmt.Sprintf("leadership was lost: the Lease %s could not be renewed for %v: %v", e.Lease, e.Deadline, e.Err)
	}
	return fmt.Sprintf("leadership was lost: the Lease %s was not renewed for %v, this process was stopped or had no time", e.Lease, e.Deadline)
}

// Unwrap returns why the last renewal failed.
func (e *LostError) Unwrap() error { return e.Err }

// AccessError says that this user cannot take part in the election at all, which is found out at the start.
type AccessError struct {
	// Verb is what is refused: get, create or update.
	Verb string
	// Namespace and Name are those of the Lease.
	Namespace, Name string
	// Err is the server's answer.
	Err error
}

func (e *AccessError) Error() string {
	return fmt.Sprintf("leader election cannot %s the Lease %s/%s: %v", e.Verb, e.Namespace, e.Name, e.Err)
}

// Unwrap returns the server's answer.
func (e *AccessError) Unwrap() error { return e.Err }
