package main

import (
	"context"
	"fmt"
	"runtime"

	"orrery/internal/observe/logs"
	"orrery/wait"
)

// survivePanics keeps a fault to where it happens: a handler of events or a loop that panics is told of, with its stack, and
// goes on with what comes next. Otherwise one object that nobody thought of would end the work for all others, again after
// each restart. A pass over a namespace that panics has failed, see nsctl.PanicError; that needs no switch.
func survivePanics(logger *logs.Logger) (restore func()) {
	crash := wait.ReallyCrash.Swap(false)
	former := wait.PanicHandlers.Replace(func(_ context.Context, p *wait.Panic) {
		logger.Error().Str("panic", nameOfPanic(p.Value)).Bytes("stack", p.Stack).Msg("fault in this program, going on with what comes next")
	})
	return func() {
		former()
		wait.ReallyCrash.Store(crash)
	}
}

// nameOfPanic is what the Go runtime says of a fault, or the type of anything else, which may be an object.
func nameOfPanic(value any) string {
	if err, ok := value.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", value)
}
