package nsctl

import (
	"fmt"
	"runtime"
)

// PanicError is a pass that panicked: a fault in this program, or in a hook of it. It is kept inside the pass, whatever
// wait.ReallyCrash says: one namespace that trips over it, again and again, must not keep all others from being deleted.
type PanicError struct {
	Value any    // what panic was called with
	Stack []byte // of the goroutine that panicked; at most 64 KiB
}

func (e *PanicError) Error() string { return fmt.Sprintf("the pass panicked: %v", e.Value) }

// Unwrap gives the cause if the program panicked with an error, as the Go runtime does.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// maxStack bounds what a runaway recursion can put into a log.
const maxStack = 64 << 10

// catch is deferred: it turns a panic into an error. A panic that was caught before, on another goroutine, keeps its stack.
func catch(err **PanicError) {
	value := recover()
	if value == nil {
		return
	}
	if caught, ok := value.(*PanicError); ok {
		*err = caught
		return
	}
	stack := make([]byte, maxStack)
	*err = &PanicError{Value: value, Stack: stack[:runtime.Stack(stack, false)]}
}
