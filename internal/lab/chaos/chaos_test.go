package chaos

import (
	"flag"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// playInBubble plays a plan with the given sabotage; the zero value breaks nothing.
func playInBubble(t *testing.T, p Plan, s sabotage) *Report {
	t.Helper()
	// With one processor, a seed plays nearly the same each time.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var report *Report
	synctest.Test(t, func(*testing.T) { report = play(p, s) })
	return report
}

var (
	firstSeed = flag.Uint64("seed", 1, "the first seed to play")
	seeds     = flag.Uint64("seeds", 2, "how many seeds to play")
	storms    = flag.Duration("storms", 4*time.Minute, "how long the storms of a seed last together, in virtual time")
	part      = flag.Uint64("part", 0, "of several processes that share the seeds, which this one is")
	parts     = flag.Uint64("parts", 1, "how many processes share the seeds")
)

// TestSeeds plays a few seeds in every test run. "make chaos" plays a thousand, in one
// process for each processor, because seeds in one process would take time from each other inside a
// bubble.
func TestSeeds(t *testing.T) {
	for seed := *firstSeed + *part; seed < *firstSeed+*seeds; seed += *parts {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			p := NewPlan(seed, *storms)
			report := playInBubble(t, p, sabotage{})
			if report.Failure != nil {
				t.Errorf("play it again: make chaos SEED=%d DURATION=%s\n%s", seed, *storms,
					report.Failure.Explain(p))
			}
			if *storms >= 4*time.Minute {
				assert.Greater(t, report.Writes, 100)
				assert.Greater(t, report.Events, 1000)
				assert.Positive(t, report.Passes)
			}
		})
	}
}

func TestThePlanFollowsFromTheSeed(t *testing.T) {
	assert.Equal(t, NewPlan(7, 0), NewPlan(7, 0))
	assert.NotEqual(t, NewPlan(7, 0).Storms, NewPlan(8, 0).Storms)
	assert.Equal(t, DefaultDuration, NewPlan(7, 0).Duration)
	assert.Len(t, NewPlan(7, 0).Storms, 5)
	assert.Len(t, NewPlan(7, time.Second).Storms, 1)
}

// Every action occurs in some plan; otherwise it would not be tested.
func TestThePlansHaveEverything(t *testing.T) {
	seen := map[Action]bool{}
	for seed := range uint64(40) {
		for _, storm := range NewPlan(seed, 0).Storms {
			for i, step := range storm.Steps {
				seen[step.What] = true
				assert.Less(t, step.At, storm.Length)
				if i > 0 {
					assert.LessOrEqual(t, storm.Steps[i-1].At, step.At)
				}
			}
		}
	}
	for _, action := range []Action{
		Put, Delete, Recreate, Release, CreateNamespace, DeleteNamespace, Cut, HalfClose, BlackHole, Stall, Refuse,
		Slow, Drip,
		CutAfter, Corrupt, LinkHealed, Fault, Restart, Reborn, Join, Leave,
	} {
		assert.True(t, seen[action], action)
	}
}
