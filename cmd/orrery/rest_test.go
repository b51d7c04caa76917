package main

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestRestComesOnceAfterEachPieceOfWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var released atomic.Int32
		r := newRest(restAfter, func() { released.Add(1) })
		time.Sleep(time.Minute)
		assert.Equal(t, int32(1), released.Load(), "after the start")

		for range 10 {
			r.worked()
			time.Sleep(restAfter / 2)
		}
		assert.Equal(t, int32(1), released.Load(), "not while there is work")
		time.Sleep(time.Minute)
		assert.Equal(t, int32(2), released.Load())

		r.worked()
		r.stop()
		time.Sleep(time.Minute)
		assert.Equal(t, int32(2), released.Load())
	})
}
