package wait

import (
	"context"
	"runtime"
	"sync/atomic"
)

// ReallyCrash says what happens to a panic after the handlers have seen it.
// True, the default, lets it go on, which ends the process if nobody else
// recovers it. False swallows it: the function that panicked has returned, the
// loop around it goes on.
//
// It is a process-wide switch; any goroutine may turn it at any time. A panic
// is judged by the position that the switch has when its handlers are done.
var ReallyCrash CrashSwitch

// CrashSwitch is a boolean that starts as true and is safe for concurrent use.
type CrashSwitch struct{ off atomic.Bool }

// Load reports whether panics go on.
func (s *CrashSwitch) Load() bool { return !s.off.Load() }

// Store turns the switch.
func (s *CrashSwitch) Store(crash bool) { s.off.Store(!crash) }

// Swap turns the switch and returns its former position, for a test that puts
// it back:
//
//	defer wait.ReallyCrash.Store(wait.ReallyCrash.Swap(false))
func (s *CrashSwitch) Swap(crash bool) (old bool) { return !s.off.Swap(!crash) }

// Panic is a panic that was caught on its way.
type Panic struct {
	Value any    // what panic was called with
	Stack []byte // of the goroutine that panicked, the panicking call included; at most 64 KiB
}

// PanicHandler is told of a panic, on the goroutine that panicked. ctx is the
// context of the loop that ran the function, or context.Background().
type PanicHandler func(ctx context.Context, p *Panic)

// HandleCrash is deferred around code whose panics must not pass unseen:
//
//	defer wait.HandleCrash()
//
// If there is a panic it calls all [PanicHandlers] and then handlers, in this
// order, and lets the panic go on if [ReallyCrash] says so. Without a panic it
// does nothing. It has to be the deferred function itself: called from inside
// another one it sees no panic.
func HandleCrash(handlers ...PanicHandler) {
	if value := recover(); value != nil {
		handlePanic(context.Background(), value, handlers)
	}
}

// HandleCrashWithContext is [HandleCrash] whose handlers receive ctx.
func HandleCrashWithContext(ctx context.Context, handlers ...PanicHandler) {
	if value := recover(); value != nil {
		handlePanic(ctx, value, handlers)
	}
}

// maxStack bounds what a runaway recursion can put into a log.
const maxStack = 64 << 10

func handlePanic(ctx context.Context, value any, handlers []PanicHandler) {
	// A deferred function runs on top of the frames that panicked, so the
	// stack taken here still contains them.
	stack := make([]byte, maxStack)
	p := &Panic{Value: value, Stack: stack[:runtime.Stack(stack, false)]}

	for _, h := range PanicHandlers.all() {
		callHandler(ctx, h, p)
	}
	for _, h := range handlers {
		callHandler(ctx, h, p)
	}
	if ReallyCrash.Load() {
		panic(value)
	}
}

// callHandler keeps a panic inside a handler from hiding the one that the
// handler was told of.
func callHandler(ctx context.Context, h PanicHandler, p *Panic) {
	defer func() {
		if value := recover(); value != nil {
			WritePanic(standardError, &Panic{Value: value, Stack: p.Stack}, "a panic handler panicked; the stack is that of the first panic")
			WritePanic(standardError, p, "the first panic")
		}
	}()
	h(ctx, p)
}
