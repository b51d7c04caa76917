package compare

import (
	"strings"
	"time"

	"orrery/internal/lab/bench"
)

// slow are the scenarios of which a turn takes longer than a second or so: with full effort, on two cores, on our side
// and on the others.
var slow = map[string]struct{ ours, theirs time.Duration }{
	"deletion/hundred":                  {20 * time.Second, 32 * time.Second},
	"deletion/empty":                    {5 * time.Second, 6 * time.Second},
	"dispatch/stalled-default":          {6 * time.Second, 12 * time.Second},
	"dispatch/stalled-coalescing":       {2 * time.Second, 12 * time.Second},
	"dispatch/stalled-default-metadata": {4 * time.Second, 6 * time.Second},
	"sync/json":                         {3 * time.Second, 12 * time.Second},
	"sync/protobuf":                     {4 * time.Second, 8 * time.Second},
}

// usual is how long a turn usually takes. It only serves the guess of how long a comparison still takes.
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
