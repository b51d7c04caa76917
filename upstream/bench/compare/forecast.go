package compare

import (
	"strings"
	"time"

	"orrery/internal/lab/bench"
)

// forecast estimates how long a comparison still takes: the usual times of the remaining turns,
// scaled by how the finished turns compare with theirs.
type forecast struct {
	turns   map[contestTurn]time.Duration // the usual time of one turn
	waiting map[contestTurn]int           // remaining turns
	spent   time.Duration                 // the finished turns' time
	meant   time.Duration                 // the finished turns' usual time
}

type contestTurn struct {
	contest string
	entrant entrant
}

func newForecast(all []contest, config Config) *forecast {
	f := &forecast{turns: make(map[contestTurn]time.Duration), waiting: make(map[contestTurn]int)}
	for _, c := range all {
		for _, e := range c.entrants {
			turn := contestTurn{c.name, e}
			f.turns[turn] = usual(e, config.Effort)
			f.waiting[turn] = config.Rounds
		}
	}
	return f
}

// took records the time of a turn.
func (f *forecast) took(c contest, e entrant, elapsed time.Duration) {
	turn := contestTurn{c.name, e}
	f.spent += elapsed
	f.meant += f.turns[turn]
	f.waiting[turn]--
}

// finish drops the remaining turns of a scenario that failed.
func (f *forecast) finish(c contest) {
	for _, e := range c.entrants {
		delete(f.waiting, contestTurn{c.name, e})
	}
}

// left returns the estimate.
func (f *forecast) left() time.Duration {
	var sum time.Duration
	for turn, n := range f.waiting {
		sum += time.Duration(n) * f.turns[turn]
	}
	if f.meant < 5*time.Second {
		return sum
	}
	return time.Duration(float64(sum) * float64(f.spent) / float64(f.meant))
}

// slow lists the scenarios whose turns take longer than about a second with full effort on two
// cores.
var slow = map[string]struct{ ours, theirs time.Duration }{
	"deletion/hundred":                  {20 * time.Second, 32 * time.Second},
	"deletion/empty":                    {5 * time.Second, 6 * time.Second},
	"dispatch/stalled-default":          {6 * time.Second, 12 * time.Second},
	"dispatch/stalled-coalescing":       {2 * time.Second, 12 * time.Second},
	"dispatch/stalled-default-metadata": {4 * time.Second, 6 * time.Second},
	"sync/json":                         {3 * time.Second, 12 * time.Second},
	"sync/protobuf":                     {4 * time.Second, 8 * time.Second},
}

// usual returns how long a turn usually takes, for the estimate of the remaining time.
func usual(e entrant, effort bench.Effort) time.Duration {
	turn, ok := slow[e.scenario]
	if !ok {
		turn.ours, turn.theirs = time.Second, time.Second
	}
	took := turn.theirs
	if e.side == Ours {
		took = turn.ours
	}
	if effort == bench.Quick && !strings.HasPrefix(e.scenario, "deletion/") {
		took /= 4
	}
	return took
}
