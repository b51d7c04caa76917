package progress_test

import (
	"fmt"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/progress"
)

func ExampleLine() {
	phase := bench.Phase{Name: "filling the store", Unit: "keys", Started: start, Total: 100_000, Done: 75_000}
	fmt.Println(progress.Line(phase, start.Add(1500*time.Millisecond), 90, progress.Look{ASCII: true}))
	// Output:
	// filling the store  ##############.....   75 %  75,000 of 100,000 keys  50.0 k/s  1 s left
}
