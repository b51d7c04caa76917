package wait

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync/atomic"
)

// ReallyCrash decides what happens to a panic after the handlers have run. True, the default, lets
// it continue, which ends the process unless a caller recovers it. False swallows it: the function
// that panicked has returned, and the loop around it continues.
//
// It is a process-wide switch that any goroutine may change at any time. It is read after the
// handlers have returned.
//
// A test restores it:
//
//	defer wait.ReallyCrash.Store(wait.ReallyCrash.Swap(false))
var ReallyCrash = new(atomic.Bool)

func init() { ReallyCrash.Store(true) }

// Panic is a recovered panic. It is an error, for code that returns a panic to its caller or
// carries it to another goroutine.
type Panic struct {
	Value any    // what panic was called with
	Stack []byte // of the goroutine that panicked, the panicking call included; at most 64 KiB
}

// NewPanic returns the panic with this value, which recover has returned. It must be called from
// the deferred function that recovered, which still runs on top of the frames that panicked, so the
// stack contains them. A value that is a *Panic comes from another goroutine; NewPanic returns it
// unchanged, with its stack.
func NewPanic(value any) *Panic {
	if carried, ok := value.(*Panic); ok {
		return carried
	}
	stack := make([]byte, maxStack)
	return &Panic{Value: value, Stack: stack[:runtime.Stack(stack, false)]}
}

// Error returns the value as text, without the stack.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Unwrap returns the value if it is an error, so that errors.Is and errors.As find it.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// PanicHandler handles a panic on the goroutine that panicked. ctx is the context of the loop that
// ran the function, or context.Background().
type PanicHandler func(ctx context.Context, p *Panic)

// HandleCrash is deferred around code whose panics must be reported:
//
//	defer wait.HandleCrash()
//
// On a panic it calls all [PanicHandlers] and then handlers, in this order, and lets the panic
// continue if [ReallyCrash] is true. Otherwise it does nothing. It must be the deferred function
// itself: called from inside a deferred function it recovers nothing.
func HandleCrash(handlers ...PanicHandler) {
	if value := recover(); value != nil {
		handlePanic(context.Background(), value, handlers)
	}
}

// HandleCrashWithContext is [HandleCrash] with a context for the handlers.
func HandleCrashWithContext(ctx context.Context, handlers ...PanicHandler) {
	if value := recover(); value != nil {
		handlePanic(ctx, value, handlers)
	}
}

// maxStack bounds the stack of a runaway recursion.
const maxStack = 64 << 10

func handlePanic(ctx context.Context, value any, handlers []PanicHandler) {
	p := NewPanic(value)
	for _, h := range *PanicHandlers.handlers.Load() {
		callHandler(ctx, h, p)
	}
	for _, h := range handlers {
		callHandler(ctx, h, p)
	}
	if ReallyCrash.Load() {
		panic(value)
	}
}

// callHandler prevents a panic in a handler from hiding the panic that is being handled.
func callHandler(ctx context.Context, h PanicHandler, p *Panic) {
	defer func() {
		if value := recover(); value != nil {
			writePanic(&Panic{Value: value, Stack: p.Stack},
				"a panic handler panicked; the stack is that of the first panic")
			writePanic(p, "the first panic")
		}
	}()
	h(ctx, p)
}

// PanicHandlers are called for every panic that a [HandleCrash] recovers. Initially there is one,
// [LogPanic]. A program with a log of its own replaces it.
var PanicHandlers = newHandlerList(LogPanic)

// HandlerList is a list of panic handlers that any goroutine may replace. A panic uses the list as
// of its recovery.
type HandlerList struct {
	handlers atomic.Pointer[[]PanicHandler]
}

func newHandlerList(handlers ...PanicHandler) *HandlerList {
	l := &HandlerList{}
	l.handlers.Store(&handlers)
	return l
}

// Replace replaces the whole list and returns a function that restores the former list.
func (l *HandlerList) Replace(handlers ...PanicHandler) (restore func()) {
	former := l.handlers.Swap(&handlers)
	return func() { l.handlers.Store(former) }
}

// standardError is a variable so that tests can read what is written.
var standardError io.Writer = os.Stderr

// LogPanic writes the panic and its stack to standard error.
func LogPanic(_ context.Context, p *Panic) {
	writePanic(p, "observed a panic")
}

// writePanic writes a panic as text: what, the panic's value, the stack.
func writePanic(p *Panic, what string) {
	// One Write, so that concurrent panics do not interleave. A failure to write cannot be
	// reported.
	_, _ = fmt.Fprintf(standardError, "%s: %v (%T)\n%s\n", what, p.Value, p.Value, p.Stack)
}
