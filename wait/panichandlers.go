package wait

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
)

// PanicHandlers are told of every panic that a [HandleCrash] meets. At first
// there is one, [LogPanic]. A program with a log of its own replaces it.
var PanicHandlers = HandlerList{handlers: []*PanicHandler{handlerOf(LogPanic)}}

// standardError is a variable so that tests can read what is written.
var standardError io.Writer = os.Stderr

// LogPanic writes the panic and its stack to standard error.
func LogPanic(_ context.Context, p *Panic) {
	WritePanic(standardError, p, "observed a panic")
}

// WritePanic writes a panic as text: what, the panic's value, the stack.
func WritePanic(w io.Writer, p *Panic, what string) {
	// One Write, so that two panics at the same time do not interleave. There
	// is nobody to report a failure to.
	_, _ = fmt.Fprintf(w, "%s: %v (%T)\n%s\n", what, p.Value, p.Value, p.Stack)
}

// HandlerList is a list of panic handlers that may be read and changed from
// any goroutine. A panic uses the list as it was when the panic was met.
type HandlerList struct {
	mu       sync.Mutex // guards what follows
	handlers []*PanicHandler
}

// handlerOf gives a handler an identity: functions cannot be compared.
func handlerOf(h PanicHandler) *PanicHandler { return &h }

// Add appends a handler and returns the function that takes it out again.
func (l *HandlerList) Add(h PanicHandler) (remove func()) {
	added := handlerOf(h)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handlers = append(l.handlers, added)
	return func() { l.remove(added) }
}

// Replace puts handlers in the place of the whole list and returns the
// function that brings the former list back.
func (l *HandlerList) Replace(handlers ...PanicHandler) (restore func()) {
	next := make([]*PanicHandler, 0, len(handlers))
	for _, h := range handlers {
		next = append(next, handlerOf(h))
	}
	former := l.swap(next)
	return func() { l.swap(former) }
}

func (l *HandlerList) swap(next []*PanicHandler) (former []*PanicHandler) {
	l.mu.Lock()
	defer l.mu.Unlock()
	former, l.handlers = l.handlers, next
	return former
}

func (l *HandlerList) remove(h *PanicHandler) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := make([]*PanicHandler, 0, len(l.handlers))
	for _, other := range l.handlers {
		if other != h {
			kept = append(kept, other)
		}
	}
	l.handlers = kept
}

// all returns a copy, so that a handler may itself change the list.
func (l *HandlerList) all() []PanicHandler {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]PanicHandler, 0, len(l.handlers))
	for _, h := range l.handlers {
		all = append(all, *h)
	}
	return all
}
