package stats_test

import (
	"fmt"

	"orrery/internal/lab/bench/stats"
)

// A neighbour on the machine disturbed the fourth round, and both sides of it: the times are far apart, the ratios are
// not.
func Example() {
	ours := []float64{101, 99, 104, 310, 100}
	theirs := []float64{405, 390, 420, 1230, 401}
	ratios := stats.Ratios(ours, theirs)
	fmt.Printf("ours    %.0f ns, spread %.2f\n", stats.Median(ours), stats.Spread(ours))
	fmt.Printf("ratio   %.2f, spread %.2f\n", stats.Median(ratios), stats.Spread(ratios))
	fmt.Printf("differ  %v, by chance one time in %.0f\n", stats.Differ(ratios), 1/stats.Lean(ratios))
	// Output:
	// ours    101 ns, spread 2.09
	// ratio   0.25, spread 0.02
	// differ  true, by chance one time in 16
}
