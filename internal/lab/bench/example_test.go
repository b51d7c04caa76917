package bench_test

import (
	"fmt"

	"orrery/internal/lab/bench"
)

// A workload measures, then proves that what it has measured was the work.
func Example() {
	sums := make(map[int]int)
	usage := bench.Measure(func() {
		for i := range 1000 {
			sums[i%10] += i
		}
	})
	if err := bench.Prove("sum of the first slot", 49_500, sums[0]); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("figures:", len(usage.PerOp(1000)))
	fmt.Println(bench.Prove("sum of the second slot", 50_000, sums[1]))
	// Output:
	// figures: 3
	// the work was not done: sum of the second slot: got 49600, want 50000
}
