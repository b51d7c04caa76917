package waittest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func runGroup(t *testing.T, impl Implementation) {
	synctest.Test(t, func(t *testing.T) {
		group := impl.NewGroup()
		group.Wait() // an empty group does not block

		var ended atomic.Int32
		stop := make(chan struct{})
		ctx, cancel := context.WithCancel(markedContext())
		group.Start(func() {
			time.Sleep(time.Second)
			ended.Add(1)
		})
		group.StartWithChannel(stop, func(given <-chan struct{}) {
			<-given
			ended.Add(1)
		})
		group.StartWithContext(ctx, func(given context.Context) {
			assert.True(t, isMarked(given))
			<-given.Done()
			ended.Add(1)
		})
		time.AfterFunc(2*time.Second, func() { close(stop) })
		time.AfterFunc(3*time.Second, cancel)

		watch := newStopwatch()
		group.Wait()
		assert.Equal(t, 3*time.Second, watch.Now())
		assert.EqualValues(t, 3, ended.Load())
	})
}

func runContext(t *testing.T, impl Implementation) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		ctx := impl.ContextForChannel(stop)
		child, cancel := context.WithCancel(ctx)
		defer cancel()

		assert.NoError(t, ctx.Err())
		_, hasDeadline := ctx.Deadline()
		assert.False(t, hasDeadline)
		assert.Nil(t, ctx.Value(contextKey{}))

		close(stop)
		<-ctx.Done()
		assert.Equal(t, context.Canceled, ctx.Err())
		<-child.Done()
		assert.Equal(t, context.Canceled, child.Err())
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(impl.ContextForChannel(nil), time.Hour)
		defer cancel()
		<-ctx.Done()
		assert.Equal(t, context.DeadlineExceeded, ctx.Err(), "a nil channel never ends it")
	})
}

func runErrors(t *testing.T, impl Implementation) {
	for _, err := range []error{
		impl.ErrWaitTimeout,
		context.Canceled,
		context.DeadlineExceeded,
	} {
		assert.True(t, impl.Interrupted(err), "%v", err)
		assert.True(t, impl.Interrupted(fmt.Errorf("while waiting: %w", err)), "%v, wrapped", err)
	}
	for _, err := range []error{nil, io.EOF, errCondition, errors.New(impl.ErrWaitTimeout.Error())} {
		assert.False(t, impl.Interrupted(err), "%v", err)
	}
	assert.Equal(t, "timed out waiting for the condition", impl.ErrWaitTimeout.Error())
}
