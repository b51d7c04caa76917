package main

import (
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRestComesAfterEachPieceOfWorkAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var released atomic.Int32
		count := func() int32 {
			synctest.Wait()
			return released.Load()
		}
		r := newRest(restAfter, restAgain, func() { released.Add(1) })
		time.Sleep(restAfter)
		assert.Equal(t, int32(1), count(), "after the start")
		time.Sleep(restAgain - time.Nanosecond)
		assert.Equal(t, int32(1), count())
		time.Sleep(time.Nanosecond)
		assert.Equal(t, int32(2), count(), "the backlog is done")

		for range 10 {
			r.worked()
			time.Sleep(restAfter / 2)
		}
		assert.Equal(t, int32(2), count(), "not while there is work")
		time.Sleep(restAfter / 2)
		assert.Equal(t, int32(3), count(), "after the work")

		r.worked()
		r.stop()
		r.worked()
		r.worked()
		time.Sleep(time.Hour)
		assert.Equal(t, int32(3), count())
	})
}

func TestRestWaitsForAReleaseThatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		released := false
		r := newRest(restAfter, restAgain, func() {
			time.Sleep(time.Second)
			released = true
		})
		time.Sleep(restAfter)
		synctest.Wait()
		r.stop()
		assert.True(t, released)
	})
}

func TestTheVariableDecidesWhenToCollect(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	t.Setenv("GOGC", "100")
	collectEarly()
	assert.Equal(t, 100, debug.SetGCPercent(100))
	t.Setenv("GOGC", "")
	collectEarly()
	assert.Equal(t, 50, debug.SetGCPercent(100))
}
