package wait

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// captureStandardError collects the package's output until the test ends.
func captureStandardError(t *testing.T) *bytes.Buffer {
	var written bytes.Buffer
	var before io.Writer
	before, standardError = standardError, &written
	t.Cleanup(func() { standardError = before })
	return &written
}

func functionThatPanics() { panic(strings.Repeat("x", 3)) }

func TestDefaultHandlerWritesTheStackOfThePanic(t *testing.T) {
	defer ReallyCrash.Store(ReallyCrash.Swap(false))
	written := captureStandardError(t)
	func() {
		defer HandleCrash()
		functionThatPanics()
	}()
	assert.Contains(t, written.String(), "observed a panic: xxx (string)\n")
	assert.Contains(t, written.String(), "wait.functionThatPanics", "the frame that panicked is in the stack")
}

func TestStackIsBounded(t *testing.T) {
	defer ReallyCrash.Store(ReallyCrash.Swap(false))
	var seen *Panic
	defer PanicHandlers.Replace(func(_ context.Context, p *Panic) { seen = p })()

	var deep func(n int)
	deep = func(n int) {
		if n == 0 {
			panic("at the bottom")
		}
		deep(n - 1)
	}
	func() {
		defer HandleCrash()
		deep(10_000)
	}()
	require.NotNil(t, seen)
	assert.LessOrEqual(t, len(seen.Stack), maxStack)
	assert.Contains(t, string(seen.Stack), "wait.TestStackIsBounded.func", "the innermost frames are kept")
}

// A handler that panics must neither hide the original panic nor stop the handlers after it.
func TestPanickingHandlerHidesNothing(t *testing.T) {
	written := captureStandardError(t)
	reported := false
	defer PanicHandlers.Replace(
		func(context.Context, *Panic) { panic("handler") },
		func(_ context.Context, p *Panic) { reported = p.Value == "original" },
	)()
	assert.PanicsWithValue(t, "original", func() {
		defer HandleCrash()
		panic("original")
	})
	assert.True(t, reported)
	assert.Contains(t, written.String(), ": handler (string)")
	assert.Contains(t, written.String(), "the first panic: original (string)")
}

func TestHandlerList(t *testing.T) {
	defer ReallyCrash.Store(ReallyCrash.Swap(false))
	var heard []string
	hears := func(name string) PanicHandler {
		return func(context.Context, *Panic) { heard = append(heard, name) }
	}
	crash := func() []string {
		heard = nil
		func() {
			defer HandleCrash(hears("local"))
			panic("boom")
		}()
		return heard
	}

	written := captureStandardError(t)
	restore := PanicHandlers.Replace(hears("a"))
	restoreA := PanicHandlers.Replace(hears("b"), hears("c"))
	assert.Equal(t, []string{"b", "c", "local"}, crash())
	restoreA()
	assert.Equal(t, []string{"a", "local"}, crash())

	assert.Empty(t, written.String(), "the default handler was replaced")

	restore()
	assert.Equal(t, []string{"local"}, crash())
	assert.NotEmpty(t, written.String(), "the default handler is back")
}

// The switch and the list are used by many goroutines while they are changed. Every panic reaches a
// handler, and the race detector finds nothing.
func TestCrashSwitchesAreSafeForConcurrentUse(t *testing.T) {
	var mu sync.Mutex
	reported := 0
	count := func(context.Context, *Panic) {
		mu.Lock()
		defer mu.Unlock()
		reported++
	}
	defer PanicHandlers.Replace(count)()
	defer ReallyCrash.Store(ReallyCrash.Load())

	const goroutines, panics = 4, 100
	var group Group
	for range goroutines {
		group.Start(func() {
			for i := range panics {
				ReallyCrash.Store(i%2 == 0)
				PanicHandlers.Replace(count)
				func() {
					defer func() { _ = recover() }()
					defer HandleCrash()
					panic(i)
				}()
			}
		})
	}
	group.Wait()
	assert.Equal(t, goroutines*panics, reported)
}

func TestPanicIsAnError(t *testing.T) {
	caught := func(value any) (err error) {
		defer func() { err = NewPanic(recover()) }()
		panic(value)
	}
	cause := io.ErrUnexpectedEOF
	assert.EqualError(t, caught("boom"), "panic: boom")
	assert.ErrorIs(t, caught(cause), cause)
	assert.NotErrorIs(t, caught("text"), cause)
	var p *Panic
	require.ErrorAs(t, caught("boom"), &p)
	assert.Contains(t, string(p.Stack), "wait.TestPanicIsAnError")
}

// TestPanicFromAnotherGoroutineKeepsItsStack: code that re-panics with a *Panic preserves its
// stack.
func TestPanicFromAnotherGoroutineKeepsItsStack(t *testing.T) {
	carried := &Panic{Value: "boom", Stack: []byte("where it was")}
	assert.Same(t, carried, NewPanic(carried))
}
