package wait_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/wait"
)

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		assert.NoError(t, wait.Sleep(t.Context(), time.Minute))
		assert.Equal(t, time.Minute, time.Since(began))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.ErrorIs(t, wait.Sleep(ctx, time.Hour), context.DeadlineExceeded)
		assert.Equal(t, time.Minute+time.Second, time.Since(began))

		assert.NoError(t, wait.Sleep(t.Context(), 0))
		assert.NoError(t, wait.Sleep(t.Context(), -time.Second))
		assert.ErrorIs(t, wait.Sleep(ctx, 0), context.DeadlineExceeded, "Sleep checks ctx even if there is nothing to wait for")
		assert.Equal(t, time.Minute+time.Second, time.Since(began))
	})
}
