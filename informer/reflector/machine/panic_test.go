package machine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/informer/reflector/machine"
	"orrery/wait"
)

// runAndRecover runs the Reflector until it panics and returns the panic value.
func runAndRecover(f *fixture) (value any) {
	defer func() { value = recover() }()
	machine.New(f.config).Run(context.Background())
	return nil
}

// TestPanicOfAResync: a panic on the timer's goroutine is passed on with its own stack.
func TestPanicOfAResync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.config.ResyncPeriod = time.Minute
		f.store.OnCall = func(op string) error {
			if op == "Resync" {
				panic("the store is broken")
			}
			return nil
		}
		value := runAndRecover(f)
		crash, carried := value.(*wait.Panic)
		require.True(t, carried, "%v", value)
		assert.Equal(t, "the store is broken", crash.Value)
		assert.Contains(t, string(crash.Stack), "panic_test.go")
		assert.Zero(t, f.source.Watchers())
	})
}
