package load_test

import (
	"context"
	"fmt"
	"time"

	"orrery/internal/lab/bench/load"
)

// Events are due every 100 us. The third takes a millisecond and delays those behind it.
func ExamplePacer() {
	start := time.Now()
	pacer := load.NewPacer(start, 10_000)
	var latencies []time.Duration
	for i := range 10 {
		due, ok := pacer.Wait(context.Background(), i)
		if !ok {
			return
		}
		if i == 2 {
			time.Sleep(time.Millisecond)
		}
		latencies = append(latencies, time.Since(start)-due)
	}
	fmt.Println("the third took its millisecond:", latencies[2] >= 1000*time.Microsecond)
	fmt.Println("the fourth waited for it:      ", latencies[3] >= 900*time.Microsecond)
	fmt.Println("and so did the eighth:         ", latencies[7] >= 500*time.Microsecond)
	// Output:
	// the third took its millisecond: true
	// the fourth waited for it:       true
	// and so did the eighth:          true
}

func ExamplePicker() {
	keys := load.NewKeys(100_000, load.Zipf, 1)
	picker := keys.Picker(0)
	first := 0
	for range 100_000 {
		if picker.Next() < 100 {
			first++
		}
	}
	fmt.Println(keys.Key(17))
	fmt.Printf("the first hundred keys got %.0f %% of the events\n", float64(first)/1000)
	// Output:
	// namespace-017/web-z55727zks5-00000
	// the first hundred keys got 40 % of the events
}
