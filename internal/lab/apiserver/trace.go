package apiserver

import "time"

// Trace is a set of functions that are called as requests pass. Each may be nil. They are called on the goroutine of the
// request, any number of them at a time.
type Trace struct {
	// RequestStarted is called when it is known who sends a request. The end of a watch may be hours away.
	RequestStarted func(RequestInfo)
	// RequestDone is called when a request has been answered; that of a watch when it has ended.
	RequestDone func(RequestInfo, RequestResult)
	// Panicked is called with what a handler panicked with, and its stack.
	Panicked func(info RequestInfo, value any, stack []byte)
}

// RequestInfo describes a request.
type RequestInfo struct {
	// Method and URI are as they came.
	Method, URI string
	// Verb is the Kubernetes verb: get, list, watch, create, update, patch, delete or deletecollection for resources, the
	// method in small letters otherwise.
	Verb string
	// User is the name of who asks; "" if this is not known.
	User string
	// UserAgent is how the client calls itself.
	UserAgent string
}

// RequestResult is how a request went.
type RequestResult struct {
	// Code is the HTTP status code, 101 for a websocket.
	Code int
	// Bytes is the length of the body as it was sent, without frames.
	Bytes int64
	// Duration is from the first byte of the request to the last of the answer.
	Duration time.Duration
}

// The methods below call a hook if there is one. A nil Trace has none.

func (t *Trace) requestStarted(info RequestInfo) {
	if t != nil && t.RequestStarted != nil {
		t.RequestStarted(info)
	}
}

func (t *Trace) panicked(info RequestInfo, value any, stack []byte) {
	if t != nil && t.Panicked != nil {
		t.Panicked(info, value, stack)
	}
}
