package fork

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"orrery/internal/observe/trace"
	"orrery/wait"
)

// settled is what two runs have in common when they are at rest after the same inputs.
type settled struct {
	Stores     map[string][]string // the keys, by informer
	Queues     map[string][]string // the keys that wait or are with a worker, by queue
	Conditions map[string][]string // those that are True, by namespace
	Held       map[string][]string // the keys at each gate
	resting    bool
}

// settle returns what has settled of a state.
func settle(s *trace.State) settled {
	c := settled{Stores: map[string][]string{}, Queues: map[string][]string{}, Conditions: map[string][]string{}, Held: map[string][]string{}}
	for name, i := range s.Informers {
		c.Stores[name] = slices.Sorted(maps.Keys(i.Store.Objects))
	}
	for name, q := range s.Queues {
		keys := slices.AppendSeq(slices.Clone(q.Queue), maps.Keys(q.Processing))
		slices.Sort(keys)
		c.Queues[name] = slices.Compact(slices.AppendSeq(keys, maps.Keys(q.Delayed)))
	}
	for key, n := range s.Namespaces {
		if n.Gone {
			continue
		}
		for name, condition := range n.Conditions {
			if condition.Status == "True" {
				c.Conditions[key] = append(c.Conditions[key], name)
			}
		}
		slices.Sort(c.Conditions[key])
	}
	for gate, keys := range s.Lab.Held {
		c.Held[gate] = slices.Sorted(slices.Values(keys))
	}
	c.resting = busy(s, false) == ""
	return c
}

func (c settled) same(d settled) bool { return c.String() == d.String() }

func (c settled) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings only
	}
	return string(text)
}

// busy names a gear that is not at rest; "" if all are. What waits at a gate keeps its gears busy
// for good, so with a held item no gear counts as busy. With blind, watches may not come back.
func busy(s *trace.State, blind bool) string {
	if len(s.Lab.Held) > 0 {
		return ""
	}
	for name, i := range s.Informers {
		switch {
		case i.Phase == "stopped":
		case i.FIFO.Total > 0 || i.FIFO.InFlight != nil:
			return "the queue of " + name
		case !i.Reflector.Open && !blind:
			return "the reflector of " + name
		}
	}
	for name, q := range s.Queues {
		if q.Total > 0 || len(q.Processing) > 0 {
			return "the workers of " + name
		}
	}
	for _, r := range s.Requests.Running {
		if r.Verb != "watch" {
			return "a request"
		}
	}
	return ""
}

const (
	round   = 150 * time.Millisecond // the pipeline is at rest when nothing changes for so long
	longest = 30 * time.Second       // for which the pause of a recording is awaited
)

// await blocks until the pipeline is at rest, and as the recording was before its next input; if it
// does not get there, for the time that the recording had. It reports whether the two are the same.
// What a recorder does not see, such as the end of a pod, gets its time that way.
func (p *player) await(ctx context.Context, recorder *trace.Recorder, input Input) (same bool, err error) {
	until := time.Now().Add(min(input.pause, longest))
	for before := ""; ; {
		if err := wait.Sleep(ctx, round); err != nil {
			return false, err
		}
		state := recorder.State()
		now, still := settle(state), stillness(state)
		same = now.same(input.after)
		if still == before && busy(state, p.blind()) == "" && (same || !time.Now().Before(until)) {
			return same, nil
		}
		before = still
	}
}

// stillness is what does not change between two looks at a pipeline at rest. The counts of handlers
// do: a slow one may have work for a long time.
func stillness(s *trace.State) string {
	still := map[string]any{"settled": settle(s), "requests": s.Requests.Started}
	for name, i := range s.Informers {
		still[name] = []any{i.Reflector.Position, i.Reflector.Phase, i.FIFO.Queued, i.FIFO.Popped, i.Applied.Number}
	}
	for name, q := range s.Queues {
		still["queue "+name] = []uint64{q.Added, q.Got, q.Done}
	}
	text, err := json.Marshal(still)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return string(text)
}

// blind reports whether a fault keeps watches from coming back.
func (p *player) blind() bool {
	return slices.ContainsFunc(p.faults, func(f fault) bool { return strings.Contains(f.text, "verb=watch") })
}
