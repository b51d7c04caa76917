package flight

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slow returns a Flight whose n-th run takes a second and returns n, and err.
func slow(runs *atomic.Int32, err error) *Flight[int] {
	return New(func(ctx context.Context) (int, error) {
		n := runs.Add(1)
		select {
		case <-time.After(time.Second):
			return int(n), err
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	})
}

type result struct {
	value  int
	joined bool
	err    error
}

func do(ctx context.Context, f *Flight[int]) <-chan result {
	out := make(chan result, 1)
	go func() {
		value, joined, err := f.Do(ctx)
		out <- result{value, joined, err}
	}()
	return out
}

func TestCallersShareARun(t *testing.T) {
	for _, boom := range []error{nil, errors.New("boom")} {
		synctest.Test(t, func(t *testing.T) {
			var runs atomic.Int32
			f := slow(&runs, boom)
			first := do(t.Context(), f)
			synctest.Wait()
			second := do(t.Context(), f)
			assert.Equal(t, result{1, false, boom}, <-first)
			assert.Equal(t, result{1, true, boom}, <-second)
			assert.Equal(t, result{2, false, boom}, <-do(t.Context(), f), "a finished run is not reused")
		})
	}
}

func TestLeavingCallerDoesNotDisturbOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		f := slow(&runs, nil)
		impatient, cancel := context.WithCancel(t.Context())
		first := do(impatient, f)
		synctest.Wait()
		second := do(t.Context(), f)
		synctest.Wait()
		cancel()
		assert.Equal(t, result{0, false, context.Canceled}, <-first)
		assert.Equal(t, result{1, true, nil}, <-second)
	})
}

func TestLastCallerCancelsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		f := slow(&runs, nil)
		ctx, cancel := context.WithCancel(t.Context())
		first := do(ctx, f)
		synctest.Wait()
		start := time.Now()
		cancel()
		require.ErrorIs(t, (<-first).err, context.Canceled)
		synctest.Wait()
		assert.Nil(t, f.current, "the run must have ended")
		assert.Zero(t, time.Since(start))
	})
}

func TestNewRunWaitsForTheAbandonedOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs, under atomic.Int32
		f := New(func(ctx context.Context) (int, error) {
			assert.Equal(t, int32(1), under.Add(1), "one run at a time")
			defer under.Add(-1)
			n := int(runs.Add(1))
			<-time.After(time.Second) // a run that is slow to notice
			return n, ctx.Err()
		})
		ctx, cancel := context.WithCancel(t.Context())
		first := do(ctx, f)
		synctest.Wait()
		cancel()
		synctest.Wait()

		hasty, cancelHasty := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancelHasty()
		assert.ErrorIs(t, (<-do(hasty, f)).err, context.DeadlineExceeded)
		assert.Equal(t, result{2, false, nil}, <-do(t.Context(), f))
		require.ErrorIs(t, (<-first).err, context.Canceled)
	})
}

// If a program stops while an exec plugin prompts for a login, Do must kill the plugin before it
// returns.
func TestLastToLeaveSeesTheRunEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		f := New(func(ctx context.Context) (int, error) {
			<-ctx.Done()
			<-time.After(time.Second) // as long as it takes to kill a process
			ended.Store(true)
			return 0, ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		brief, cancelBrief := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancelBrief()
		last := do(ctx, f)
		synctest.Wait()
		require.ErrorIs(t, (<-do(brief, f)).err, context.DeadlineExceeded)
		assert.False(t, ended.Load(), "others want it still")
		require.ErrorIs(t, (<-last).err, context.DeadlineExceeded)
		assert.True(t, ended.Load())
	})
}

func TestEndedContextStartsNothing(t *testing.T) {
	var runs atomic.Int32
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := slow(&runs, nil).Do(ctx)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, runs.Load())
}
