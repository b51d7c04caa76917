package flight_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"orrery/restclient/internal/flight"
)

func Example() {
	var runs atomic.Int32
	started, release := make(chan struct{}), make(chan struct{})
	f := flight.New(func(context.Context) (string, error) {
		close(started)
		<-release
		return fmt.Sprint("answer of run ", runs.Add(1)), nil
	})

	var callers sync.WaitGroup
	callers.Go(func() {
		answer, joined, _ := f.Do(context.Background())
		fmt.Println(answer, joined)
	})
	<-started
	close(release)
	callers.Wait()
	// Output: answer of run 1 false
}
