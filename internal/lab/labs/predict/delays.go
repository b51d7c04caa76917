package predict

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"orrery/queue"
)

// newDelays is the interpreter for queue/delaying.go and queue/ratelimiters.go: a queue with
// delays, and a limiter that begins with 5 ms and doubles. Delays of scripts are hours long, so
// none ends.
func newDelays(ctx context.Context) commands {
	q := queue.NewDelaying(queue.Config[string]{})
	context.AfterFunc(ctx, q.ShutDown)
	limiter := queue.NewItemExponentialFailureRateLimiter[string](5*time.Millisecond, 1000*time.Second)
	return commands{
		"add KEY": func(args ...string) (string, error) {
			q.Add(args[0])
			return "", nil
		},
		"add-after KEY DELAY": func(args ...string) (string, error) {
			after, err := time.ParseDuration(args[1])
			q.AddAfter(args[0], after)
			return "", err
		},
		"shutdown": func(...string) (string, error) {
			q.ShutDown()
			return "", nil
		},
		// the keys that wait for the end of a delay, to the hour
		"delayed": func(...string) (string, error) {
			var words []string
			for _, d := range q.Snapshot().Delayed {
				words = append(words, fmt.Sprintf("%s in %.0fh", d.Key, d.In.Hours()))
			}
			return list(words, ", "), nil
		},
		// a pass that succeeds: the worker gets the key and calls Done
		"pass KEY": func(args ...string) (string, error) {
			q.Add(args[0])
			key, _ := q.Get()
			q.Done(key)
			return "", nil
		},
		// failures in a row; yields the delay after the last one
		"fail KEY TIMES": func(args ...string) (string, error) {
			times, err := strconv.Atoi(args[1])
			var delay time.Duration
			for range times {
				delay = limiter.When(args[0])
			}
			return delay.String(), err
		},
		"forget KEY": func(args ...string) (string, error) {
			limiter.Forget(args[0])
			return "", nil
		},
	}
}
