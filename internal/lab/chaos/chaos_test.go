package chaos

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"orrery/restclient"
	"orrery/restclient/api"
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

// requirePassed plays a plan that must pass.
func requirePassed(t *testing.T, p Plan, s sabotage) *Report {
	t.Helper()
	report := playInBubble(t, p, s)
	if report.Failure != nil {
		t.Errorf("play it again: make chaos SEED=%d DURATION=%s\n%s", p.Seed, p.Duration,
			report.Failure.Explain(p))
	}
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
			report := requirePassed(t, p, sabotage{})
			if *storms >= 4*time.Minute {
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
			for _, step := range storm.Steps {
				seen[step.What] = true
			}
		}
	}
	assert.Len(t, seen, 19, "%v", seen)
}

// manySeeds is the number of seeds that TestControllers plays, of the thousand of TestSeeds.
const manySeeds = 100

// All controllers run in one process. At each quiet point everything desired exists, nothing else
// does, and each type has one watch.
func TestControllers(t *testing.T) {
	for seed := *firstSeed + *part; seed < *firstSeed+min(*seeds, manySeeds); seed += *parts {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			p := NewControllersPlan(seed, *storms)
			requirePassed(t, p, sabotage{})
		})
	}
}

// calmControllers is a plan with writes only. At its end there is a Deployment.
func calmControllers() Plan {
	p := NewControllersPlan(1, 2*time.Minute)
	p.onlyWrites()
	last := &p.Storms[len(p.Storms)-1]
	last.Steps = append(last.Steps, Step{At: last.Length, What: Put, On: "deployments/" + staying + "/last", N: 3})
	return p
}

// The end of a watch is lost on a connection that is dead towards the server. The usage of a
// machine keeps arriving, and with it the connection stays open.
func TestTheServerMayMissTheEndOfAWatch(t *testing.T) {
	p := calmControllers()
	p.TLS = true // HTTP/2: all requests share a connection
	storm := &p.Storms[len(p.Storms)-1]
	storm.Steps = append(storm.Steps, Step{At: storm.Length, What: Put,
		On: "virtualmachines/" + staying + "/last", N: 3})
	report := playInBubble(t, p, sabotage{begun: func(w *world) {
		process := w.running()[0]
		watch, err := restclient.Typed[*api.Namespace](process.client, api.NamespacesResource, "").
			Watch(context.Background(), api.ListOptions{})
		assert.NoError(t, err)
		w.under.Go(func() {
			time.Sleep(p.Storms[0].Length + time.Second)
			process.link.BlackHole(true, Sent)
			watch.Stop()
			synctest.Wait()
			process.link.BlackHole(false)
			assert.Equal(t, 1, process.link.Snapshot().Dead)
		})
	}})
	assert.Nil(t, report.Failure)
}
