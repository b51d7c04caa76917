// Package driver creates servers for the controller of virtual machines. [Interface] is what the
// controller needs from an engine. [Memory] is a driver without servers: a map, and with a
// directory also a file, so that its servers outlive the program. The article's driver runs
// containers with Docker.
package driver

import (
	"context"
	"errors"
	"time"
)

// Interface creates and deletes servers, as a container engine, a cloud or a hypervisor does. Its
// user gives them their names.
//
// Every method is idempotent and safe for concurrent use: it may be called again after the program
// was killed during a call. It returns when ctx is done; its work may then be done or not.
type Interface interface {
	// CreateServer creates a server, unless it runs. One of that name that has ended is replaced.
	CreateServer(ctx context.Context, request CreateRequest) error
	// DeleteServer deletes a server and returns when it is gone. A server that does not exist is
	// not an error.
	DeleteServer(ctx context.Context, name string) error
	// IsServerExist reports whether there is a server that has not ended.
	IsServerExist(ctx context.Context, name string) (bool, error)
	// GetServerStatus returns the status of a server. One that does not exist has ended.
	GetServerStatus(ctx context.Context, name string) (Status, error)
}

// CreateRequest describes a server to create.
type CreateRequest struct {
	Name   string // letters, digits, dashes and dots, at most 100 of them
	CPU    int64  // thousandths of a CPU
	Memory int64  // bytes
}

// State says whether a server runs.
type State string

// The states.
const (
	Running State = "Running"
	Ended   State = "Ended"
)

// Status is the status of a server.
type Status struct {
	ID    string // the driver's own name for it
	State State
	// Reason says why it has ended, if known.
	Reason string
	// CPUPercentage and MemoryPercentage are shares of what the CreateRequest asked for, 100 being
	// all of it.
	CPUPercentage    float64
	MemoryPercentage float64
}

// notFound is the status of a server that does not exist.
var notFound = Status{State: Ended, Reason: "it does not exist"}

// RefusedError says that the driver can never create what was asked for.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

// Error is a call of a driver that failed.
type Error struct {
	Call string // CreateServer, DeleteServer ...
	Err  error
}

// inWords describes the failure of each call.
var inWords = map[string]string{
	"CreateServer":    "the server cannot be created",
	"DeleteServer":    "the server cannot be deleted",
	"IsServerExist":   "it is not known whether the server exists",
	"GetServerStatus": "the state of the server is not known",
}

func (e *Error) Error() string { return inWords[e.Call] + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrTimeout says that a driver has not answered in time.
var ErrTimeout = errors.New("the driver did not answer in time")

// WithTimeout returns a driver whose calls end after the limit at the latest, and whose errors are
// all of type *Error.
func WithTimeout(inner Interface, limit time.Duration) Interface {
	return Around(inner, func(ctx context.Context, name, _ string, call func(context.Context) error) error {
		ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrTimeout)
		defer cancel()
		err := call(ctx)
		if err != nil && errors.Is(context.Cause(ctx), ErrTimeout) {
			err = ErrTimeout
		}
		if err != nil {
			return &Error{Call: name, Err: err}
		}
		return nil
	})
}

// AroundCall makes a call of a driver, or does not, and returns its error. name is that of the
// method, and server that of the server.
type AroundCall = func(ctx context.Context, name, server string, call func(context.Context) error) error

// Around returns a driver whose calls are made by a function.
func Around(inner Interface, do AroundCall) Interface { return &around{inner, do} }

type around struct {
	inner Interface
	do    AroundCall
}

func (a *around) CreateServer(ctx context.Context, request CreateRequest) error {
	return a.do(ctx, "CreateServer", request.Name, func(ctx context.Context) error {
		return a.inner.CreateServer(ctx, request)
	})
}

func (a *around) DeleteServer(ctx context.Context, name string) error {
	return a.do(ctx, "DeleteServer", name, func(ctx context.Context) error { return a.inner.DeleteServer(ctx, name) })
}

func (a *around) IsServerExist(ctx context.Context, name string) (exists bool, err error) {
	err = a.do(ctx, "IsServerExist", name, func(ctx context.Context) (err error) {
		exists, err = a.inner.IsServerExist(ctx, name)
		return err
	})
	return exists, err
}

func (a *around) GetServerStatus(ctx context.Context, name string) (status Status, err error) {
	err = a.do(ctx, "GetServerStatus", name, func(ctx context.Context) (err error) {
		status, err = a.inner.GetServerStatus(ctx, name)
		return err
	})
	return status, err
}
