package wait_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orrery/wait"
)

// The worker pool of a controller: goroutines that take keys until none are left, and restart after
// a crash.
func ExampleUntilWithContext() {
	keys := make(chan string, 4)
	for _, key := range []string{"blue", "boom", "green", "red"} {
		keys <- key
	}
	ctx, cancel := context.WithCancel(context.Background())

	// This program prefers to continue after a panic, and logs in its own way.
	defer wait.ReallyCrash.Store(wait.ReallyCrash.Swap(false))
	defer wait.PanicHandlers.Replace(func(_ context.Context, p *wait.Panic) {
		fmt.Println("worker crashed:", p.Value)
	})()

	worker := func(context.Context) {
		for {
			select {
			case key := <-keys:
				if key == "boom" {
					panic("no such planet")
				}
				fmt.Println("synced", key)
			default:
				cancel()
				return
			}
		}
	}
	var workers wait.Group
	workers.StartWithContext(ctx, func(ctx context.Context) {
		wait.UntilWithContext(ctx, worker, time.Millisecond)
	})
	workers.Wait()
	// Output:
	// synced blue
	// worker crashed: no such planet
	// synced green
	// synced red
}

// A stop channel, as the article on JitterUntil shows it.
func ExampleJitterUntil() {
	stop := make(chan struct{})
	turns := 0
	wait.JitterUntil(func() {
		turns++
		fmt.Println("turn", turns)
		if turns == 3 {
			close(stop)
		}
	}, time.Millisecond, 0.5, true, stop)
	// Output:
	// turn 1
	// turn 2
	// turn 3
}

func ExamplePollUntilContextTimeout() {
	ready := time.Now().Add(3 * time.Millisecond)
	err := wait.PollUntilContextTimeout(context.Background(), time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return time.Now().After(ready), nil })
	fmt.Println("ready:", err)

	err = wait.PollUntilContextTimeout(context.Background(), time.Millisecond, 5*time.Millisecond, true,
		func(context.Context) (bool, error) { return false, nil })
	fmt.Println("never:", err, "- interrupted:", wait.Interrupted(err))

	err = wait.PollUntilContextTimeout(context.Background(), time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return false, errors.New("the server is gone") })
	fmt.Println("broken:", err, "- interrupted:", wait.Interrupted(err))
	// Output:
	// ready: <nil>
	// never: context deadline exceeded - interrupted: true
	// broken: the server is gone - interrupted: false
}

func ExampleBackoff() {
	b := wait.Backoff{Duration: 800 * time.Millisecond, Factor: 2, Steps: 10, Cap: 5 * time.Second}
	for range 5 {
		fmt.Print(b.Step(), " ")
	}
	// Output: 800ms 1.6s 3.2s 5s 5s
}
