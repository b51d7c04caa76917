package queue

import (
	"context"
	"sync"
	"sync/atomic"

	"orrery/wait"
)

// ParallelizeUntil calls f with each number from 0 to pieces-1, in that order,
// in at most workers goroutines, and returns when they have all ended. When ctx
// is done no further piece is started. f must be safe for concurrent use.
//
// A panic in f goes to wait.HandleCrashWithContext. If that swallows it, the
// piece counts as done.
//
// (The original takes a chunk size, because it hands out pieces through a
// channel. Here a piece costs one atomic addition.)
func ParallelizeUntil(ctx context.Context, workers, pieces int, f func(piece int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, pieces) {
		group.Go(func() {
			for ctx.Err() == nil {
				piece := int(next.Add(1)) - 1
				if piece >= pieces {
					return
				}
				runPiece(ctx, piece, f)
			}
		})
	}
	group.Wait()
}

func runPiece(ctx context.Context, piece int, f func(piece int)) {
	defer wait.HandleCrashWithContext(ctx)
	f(piece)
}
