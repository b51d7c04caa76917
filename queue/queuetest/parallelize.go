package queuetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func runParallelize(t *testing.T, impl Implementation) {
	bubble(t, "each piece is done once", func(t *testing.T) { testEachPiece(t, impl) })
	bubble(t, "no more workers than asked for", func(t *testing.T) { testWorkers(t, impl) })
	bubble(t, "nothing starts after the context is done", func(t *testing.T) { testParallelizeStops(t, impl) })
}

func testEachPiece(t *testing.T, impl Implementation) {
	for _, c := range []struct{ workers, pieces int }{
		{1, 0}, {1, 1}, {1, 17}, {4, 3}, {4, 1000}, {16, 16},
	} {
		var mu sync.Mutex
		done := make([]int, c.pieces)
		impl.ParallelizeUntil(t.Context(), c.workers, c.pieces, func(piece int) {
			mu.Lock()
			defer mu.Unlock()
			done[piece]++
		})
		for piece, times := range done {
			assert.Equal(t, 1, times, "%d workers, %d pieces: piece %d", c.workers, c.pieces, piece)
		}
	}
}

func testWorkers(t *testing.T, impl Implementation) {
	began := time.Now()
	impl.ParallelizeUntil(t.Context(), 3, 10, func(int) { time.Sleep(time.Second) })
	assert.Equal(t, 4*time.Second, time.Since(began), "ten pieces for three workers")
}

func testParallelizeStops(t *testing.T, impl Implementation) {
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	started := 0
	impl.ParallelizeUntil(ctx, 2, 100, func(int) {
		mu.Lock()
		defer mu.Unlock()
		if started++; started == 5 {
			cancel()
		}
	})
	assert.GreaterOrEqual(t, started, 5)
	assert.LessOrEqual(t, started, 6, "the other worker may have begun one more")

	impl.ParallelizeUntil(ctx, 2, 100, func(int) { started = -1 })
	assert.NotEqual(t, -1, started, "a context that is done from the beginning")
}
