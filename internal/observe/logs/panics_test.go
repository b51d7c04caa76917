package logs_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/informer"
	"orrery/internal/observe/logs"
	"orrery/wait"
)

// A handler that panicked for each of a thousand events wrote two thousand lines.
func TestAHandlerThatAlwaysPanicsIsLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := func(depth int) (p *wait.Panic) {
			defer func() { p = wait.NewPanic(recover()) }()
			panic(errors.New(string(rune(depth))))
		}
		story := func(l *logs.Logger) {
			trace, handler := l.Informer(), informer.HandlerInfo{Informer: "pods", Handler: "h"}
			panicked := func(kind informer.EventKind, key string, depth int) {
				l.Panic("*errors.errorString", fail(depth).Stack)
				trace.HandlerPanicked(handler, kind, key, nil)
			}
			for i := range 100 {
				panicked(informer.EventUpdate, string(rune('a'+i)), i)
			}
			panicked(informer.EventDelete, "a", 0)
			time.Sleep(time.Minute)
			panicked(informer.EventUpdate, "b", 0)
		}
		all := messages(lines(t, 0, story))
		assert.Equal(t, []string{
			"panic in this program, continuing", "handler panicked", "panic in this program, continuing", "handler panicked",
			"panic in this program, continuing", "handler panicked",
		}, all)
	})
}

func TestPanicsOfOnePlaceDifferByTheirNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := lines(t, 0, func(l *logs.Logger) {
			for _, name := range []string{"*errors.errorString", "runtime.boundsError", "runtime.boundsError"} {
				l.Panic(name, []byte("main.f()\n\t/main.go:1 +0x1\n"))
			}
		})
		assert.Len(t, all, 2)
	})
}

// A queue that panics fails with each event, without end.
func TestAnEventThatCannotBeAppliedIsLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		assert.Equal(t, 3, count(messages(lines(t, 0, func(l *logs.Logger) {
			trace := l.Informer()
			for range 60 * 2 {
				trace.ProcessError("pods", &informer.ProcessError{Err: errors.New("panic")})
				time.Sleep(time.Second)
			}
			trace.ProcessError("pods", &informer.ProcessError{Key: "a/b", Err: errors.New("no key")})
		})), "event could not be applied"), "two minutes, and another error")
	})
}
