package machine

import (
	"fmt"
	"runtime/debug"
	"time"
)

// keepTime is the second goroutine of Run. It tells the machine which times have come, also while the first one
// waits for an answer: it is what interrupts a stream that has gone silent and what makes resyncs happen on a
// quiet watch. It ends with r.ctx.
func (r *Reflector[T]) keepTime() {
	defer func() {
		if value := recover(); value != nil {
			r.crash = &PanicError{Value: value, Stack: debug.Stack()}
			r.end()
		}
	}()
	for {
		select {
		case <-r.ctx.Done():
			r.handle(input{kind: InputStop})
			return
		case <-r.timer.C:
			r.ring()
		}
	}
}

// ring tells the machine of every time that has come and sets the timer to the next. The timer is not moved when a
// deadline moves away (an event arrives and the silence counts from there): it rings in vain then, at most once in an idle
// timeout, which is cheaper than moving it with each event.
func (r *Reflector[T]) ring() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.ctx.Err() == nil {
		at, due := r.state.next()
		if at > time.Since(r.began) {
			r.setTimerLocked(at)
			return
		}
		r.handleLocked(input{kind: due})
	}
}

// PanicError carries a panic from the goroutine that keeps the time to the one that called Run, which panics with
// it. A panic on Run's own goroutine is left as it is.
type PanicError struct {
	Value any    // what was given to panic
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string { return fmt.Sprintf("%v\n\n%s", e.Value, e.Stack) }
