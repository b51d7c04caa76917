package predict

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"

	"orrery/queue"
)

// newQueue is the interpreter for queue/queue.go.
func newQueue(ctx context.Context) commands {
	q := queue.New(queue.Config[string]{})
	context.AfterFunc(ctx, q.ShutDown)
	var last atomic.Value           // the last command that may end a drain
	drained := make(chan string, 1) // what last was when ShutDownWithDrain returned
	// ok is false if Get would block, or the queue is shut and empty.
	get := func() (key string, ok bool) {
		if q.Len() == 0 {
			return "", false
		}
		key, shutdown := q.Get()
		return key, !shutdown
	}
	return commands{
		"add KEYS...": func(args ...string) (string, error) {
			for _, key := range args {
				q.Add(key)
			}
			return "", nil
		},
		"get": func(...string) (string, error) {
			key, ok := get()
			if !ok {
				key = "Get blocks"
			}
			return key, nil
		},
		"done KEY": func(args ...string) (string, error) {
			last.Store("done " + args[0])
			q.Done(args[0])
			return "", nil
		},
		// the passes that the queued keys get, if nothing is added any more
		"passes": func(...string) (string, error) {
			passes := 0
			for key, ok := get(); ok && ctx.Err() == nil; key, ok = get() {
				passes++
				q.Done(key)
			}
			return strconv.Itoa(passes), nil
		},
		// workers that wait in Get
		"workers NUMBER": func(args ...string) (string, error) {
			n, err := strconv.Atoi(args[0])
			if err != nil {
				return "", err
			}
			for range n {
				go q.Get()
			}
			return "", await(ctx, func() bool { return q.Snapshot().Waiting == n })
		},
		// how many of them have a key now
		"busy": func(...string) (string, error) {
			err := await(ctx, func() bool { return q.Len() == 0 })
			return strconv.Itoa(len(q.Snapshot().Processing)), err
		},
		"drain": func(...string) (string, error) {
			last.Store("drain")
			go func() {
				q.ShutDownWithDrain()
				drained <- last.Load().(string)
			}()
			return "", await(ctx, func() bool { return q.Snapshot().Draining || len(drained) > 0 })
		},
		// the command after which ShutDownWithDrain returned
		"drain-returned-after": func(...string) (string, error) {
			select {
			case command := <-drained:
				return command, nil
			case <-ctx.Done():
				return "", fmt.Errorf("ShutDownWithDrain does not return: %w", ctx.Err())
			}
		},
	}
}
