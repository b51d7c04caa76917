package restclient

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLimiterLetsTheBurstThroughThenOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(10, 3)
		start := time.Now()
		var at []time.Duration
		for range 6 {
			_, err := takeToken(t.Context(), l)
			require.NoError(t, err)
			at = append(at, time.Since(start))
		}
		assert.Equal(t, []time.Duration{0, 0, 0, 100 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond}, at)

		time.Sleep(time.Hour) // the bucket does not overflow
		assert.InDelta(t, 3, l.Tokens(), 1e-9)
	})
}

func TestLimiterServesWaitersInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(1, 1)
		start := time.Now()
		var mu sync.Mutex
		got := map[int]time.Duration{}
		for i := range 5 {
			go func() {
				_, err := takeToken(t.Context(), l)
				assert.NoError(t, err)
				mu.Lock()
				defer mu.Unlock()
				got[i] = time.Since(start)
			}()
			synctest.Wait()
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		for i := range 5 {
			assert.Equal(t, time.Duration(i)*time.Second, got[i])
		}
	})
}

func TestLimiterGivesTokensOfCancelledWaitersBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(1, 1)
		_, err := takeToken(t.Context(), l)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() {
			_, err := takeToken(ctx, l)
			failed <- err
		}()
		synctest.Wait()
		assert.InDelta(t, -1, l.Tokens(), 1e-9)
		cancel()
		assert.ErrorIs(t, <-failed, context.Canceled)
		assert.InDelta(t, 0, l.Tokens(), 1e-9, "the token of a waiter that has gone is lost")

		_, err = takeToken(ctx, l)
		assert.ErrorIs(t, err, context.Canceled, "a dead context takes no token")
		assert.InDelta(t, 0, l.Tokens(), 1e-9)
	})
}

func TestLimiterDoesNotWaitForADeadlineThatComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(0.1, 1)
		_, err := takeToken(t.Context(), l)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		_, err = takeToken(ctx, l)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, time.Since(start))
		assert.InDelta(t, 0, l.Tokens(), 1e-9)
	})
}

func TestNegativeRateMeansNoLimit(t *testing.T) {
	assert.Nil(t, newLimiter(-1, 0))
}
