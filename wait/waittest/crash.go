package waittest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
)

func runCrash(t *testing.T, impl Implementation) {
	t.Run("without a panic nothing happens", func(t *testing.T) {
		panics := loudly(t, impl)
		ran := false
		impl.Protect(t.Context(), func() { ran = true }, func(any) { assert.Fail(t, "a handler was called") })
		assert.True(t, ran)
		assert.Empty(t, panics())
	})
	t.Run("on: the handlers run and the panic continues", func(t *testing.T) {
		panics := loudly(t, impl)
		var local []any
		assert.PanicsWithValue(t, "boom", func() {
			impl.Protect(t.Context(), func() { panic("boom") }, func(value any) {
				assert.Equal(t, []any{"boom"}, panics(), "the process-wide handlers come first")
				local = append(local, value)
			})
		})
		assert.Equal(t, []any{"boom"}, panics())
		assert.Equal(t, []any{"boom"}, local)
	})
	t.Run("off: the handlers run and the panic ends", func(t *testing.T) {
		panics := quietly(t, impl)
		var local []any
		impl.Protect(t.Context(), func() { panic("boom") }, func(value any) { local = append(local, value) })
		impl.Protect(t.Context(), func() { panic("boom") }, nil)
		assert.Equal(t, []any{"boom", "boom"}, panics())
		assert.Equal(t, []any{"boom"}, local)
	})
	t.Run("the switch is read after the handlers have run", func(t *testing.T) {
		loudly(t, impl)
		turn := func(crash bool) func(any) { return func(any) { impl.SetReallyCrash(crash) } }
		assert.NotPanics(t, func() {
			impl.Protect(t.Context(), func() { panic("boom") }, turn(false))
		}, "a handler turns crashing off")
		assert.PanicsWithValue(t, "boom", func() {
			impl.Protect(t.Context(), func() { panic("boom") }, turn(true))
		}, "a handler turns crashing on")
	})
	t.Run("the handlers receive the context", func(t *testing.T) {
		quietly(t, impl)
		marked := false
		restore := impl.OnPanic(func(ctx context.Context, _ any) { marked = isMarked(ctx) })
		defer restore()
		impl.Protect(markedContext(), func() { panic("boom") }, nil)
		assert.True(t, marked)
	})
}
