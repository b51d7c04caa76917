package driver

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Interface creates and deletes servers: with a container engine, a cloud, a hypervisor. Its user
// gives them their names.
//
// Each method may be called any number of times with the same arguments, from several goroutines,
// and again after the program was killed inside a call: it brings the server into the state that it
// is about, whatever was done before. It returns when ctx ends; it may then have done its work or
// not.
type Interface interface {
	// CreateServer creates a server, unless it runs. One of that name that has ended is replaced.
	CreateServer(ctx context.Context, request CreateRequest) error
	// DeleteServer deletes a server and returns when it has gone. That there is none is no error.
	DeleteServer(ctx context.Context, name string) error
	// IsServerExist reports whether there is a server that has not ended.
	IsServerExist(ctx context.Context, name string) (bool, error)
	// GetServerStatus returns what a server does. One that does not exist has ended.
	GetServerStatus(ctx context.Context, name string) (Status, error)
}

// CreateRequest says which server is wanted.
type CreateRequest struct {
	Name   string // letters, digits, dashes and dots, at most 100 of them
	CPU    int64  // thousandths of a CPU
	Memory int64  // bytes
}

// State is whether a server runs.
type State string

// The states.
const (
	Running State = "Running"
	Ended   State = "Ended"
)

// Status is what a server does.
type Status struct {
	ID    string // the driver's own name for it
	State State
	// Reason says why it has ended, if that is known.
	Reason string
	// CPUPercentage and MemoryPercentage are shares of what the CreateRequest asked for, 100 being
	// all of it.
	CPUPercentage    float64
	MemoryPercentage float64
}

// notFound is the status of a server that does not exist.
var notFound = Status{State: Ended, Reason: "it does not exist"}

// RefusedError says that the driver cannot create what was asked for.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return "refused: " + e.Why }

// Error is a call of a driver that failed.
type Error struct {
	Call string // CreateServer, DeleteServer ...
	Err  error
}

func (e *Error) Error() string { return e.Call + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrTimeout says that a driver has not answered in time. It is a context.DeadlineExceeded.
var ErrTimeout = fmt.Errorf("the driver did not answer in time: %w", context.DeadlineExceeded)

// WithTimeout returns a driver whose calls end after the limit at the latest, and whose errors are
// all of type *Error.
func WithTimeout(inner Interface, limit time.Duration) Interface { return &limited{inner, limit} }

type limited struct {
	Interface
	limit time.Duration
}

func (l *limited) CreateServer(ctx context.Context, request CreateRequest) error {
	return l.call(ctx, "CreateServer", func(ctx context.Context) error { return l.Interface.CreateServer(ctx, request) })
}

func (l *limited) DeleteServer(ctx context.Context, name string) error {
	return l.call(ctx, "DeleteServer", func(ctx context.Context) error { return l.Interface.DeleteServer(ctx, name) })
}

func (l *limited) IsServerExist(ctx context.Context, name string) (exists bool, err error) {
	err = l.call(ctx, "IsServerExist", func(ctx context.Context) (err error) {
		exists, err = l.Interface.IsServerExist(ctx, name)
		return err
	})
	return exists, err
}

func (l *limited) GetServerStatus(ctx context.Context, name string) (status Status, err error) {
	err = l.call(ctx, "GetServerStatus", func(ctx context.Context) (err error) {
		status, err = l.Interface.GetServerStatus(ctx, name)
		return err
	})
	return status, err
}

func (l *limited) call(ctx context.Context, name string, call func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, l.limit, ErrTimeout)
	defer cancel()
	err := call(ctx)
	if err != nil && errors.Is(context.Cause(ctx), ErrTimeout) {
		err = ErrTimeout
	}
	if err != nil {
		return &Error{Call: name, Err: err}
	}
	return nil
}
