package fork

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"orrery/internal/observe/trace"
	"orrery/wait"
)

// settled is what two runs have in common when they are at rest after the same inputs.
type settled struct {
	Stores     map[string][]string // the keys, by informer
	Deltas     map[string][]string // the keys that wait for a pop and their deltas, by informer
	Queues     map[string][]string // the keys that wait, are with a worker or are delayed, by queue
	Conditions map[string][]string // those that are True, by namespace
	Held       map[string][]string // the keys at each gate
	resting    bool
}

// settle returns what has settled of a state. With blind, watches may not come back.
func settle(s *trace.State, blind bool) settled {
	c := settled{Stores: map[string][]string{}, Deltas: map[string][]string{}, Queues: map[string][]string{}, Conditions: map[string][]string{}, Held: map[string][]string{}}
	stored := map[string]bool{}
	for name, i := range s.Informers {
		for key := range i.Store.Objects {
			stored[key] = true
			c.Stores[name] = append(c.Stores[name], generated.ReplaceAllString(key, "-*"))
		}
		slices.Sort(c.Stores[name])
		for _, slot := range i.FIFO.Slots {
			c.Deltas[name] = append(c.Deltas[name], slot.Key+" "+slot.Deltas)
		}
		slices.Sort(c.Deltas[name])
	}
	for name, q := range s.Queues {
		keys := slices.AppendSeq(slices.Clone(q.Queue), maps.Keys(q.Processing))
		for key := range q.Delayed {
			if stored[key] { // what has gone has a pass without an effect, sooner or later
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		c.Queues[name] = slices.Compact(keys)
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
	c.resting = atRest(s, blind)
	return c
}

// generated is the end of a name that a server has generated, which is another one in each run.
var generated = regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}$`)

// differences has a line for each thing that is not as in the recording; nil if the two are the
// same. After + stands what only the fork has, after − what only the recording has.
func (c settled) differences(recorded settled) (differences []string) {
	for _, part := range []struct {
		of            string
		got, recorded map[string][]string
	}{
		{"store", c.Stores, recorded.Stores}, {"delta queue", c.Deltas, recorded.Deltas},
		{"work queue", c.Queues, recorded.Queues}, {"conditions", c.Conditions, recorded.Conditions},
		{"gate", c.Held, recorded.Held},
	} {
		names := slices.Sorted(maps.Keys(part.got))
		names = slices.AppendSeq(names, maps.Keys(part.recorded))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if got, recorded := part.got[name], part.recorded[name]; !slices.Equal(got, recorded) {
				differences = append(differences, fmt.Sprintf("%s %s:%s%s", part.of, name, listed(" +", without(got, recorded)), listed(" −", without(recorded, got))))
			}
		}
	}
	return differences
}

// without returns the names that are not in others. Duplicates count.
func without(names, others []string) (left []string) {
	others = slices.Clone(others)
	for _, name := range names {
		if i := slices.Index(others, name); i >= 0 {
			others = slices.Delete(others, i, i+1)
		} else {
			left = append(left, name)
		}
	}
	return left
}

// listed returns the names with a sign before each, and the number of those that are left out.
func listed(sign string, names []string) (text string) {
	const most = 5
	for _, name := range names[:min(most, len(names))] {
		text += sign + name
	}
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf("%s%d…", sign, more)
	}
	return text
}

// atRest reports whether no gear is busy. What waits at a gate keeps its gears busy for good, so
// with a held item none counts. With blind, watches may not come back.
func atRest(s *trace.State, blind bool) bool {
	if len(s.Lab.Held) > 0 {
		return true
	}
	for _, i := range s.Informers {
		if i.Phase != "stopped" && (i.FIFO.Total > 0 || i.FIFO.InFlight != nil || !i.Reflector.Open && !blind) {
			return false
		}
	}
	for _, q := range s.Queues {
		if q.Total > 0 || len(q.Processing) > 0 {
			return false
		}
	}
	for _, r := range s.Requests.Running {
		if r.Verb != "watch" {
			return false
		}
	}
	return true
}

const (
	round   = 150 * time.Millisecond // a pipeline at rest does not change for so long
	longest = 30 * time.Second       // for which a fork waits after an input
	slack   = time.Second            // in which a fork gets as far as the recording did
)

// await waits after an input, as the recording did, and compares the two.
//
//   - If the recording was at rest before its next input, or if the input is the last one, await
//     blocks until the pipeline rests in the same state. If its state differs, await blocks until
//     the recording's pause is over and each queue has handed out as many keys as are delayed. This
//     gives time to what the recorder cannot see, such as the end of a pod.
//   - If the recording went on earlier, so does the fork: in the same state, or after the pause.
//   - After a minute, await returns even if the pipeline is still busy.
func (p *player) await(ctx context.Context, recorder *trace.Recorder, input Input, last bool) (Result, error) {
	var (
		began   = time.Now()
		before  string            // the stillness of the round before
		changed string            // the state, encoded, when it last changed
		passes  map[string]uint64 // of each queue, when the state last changed
	)
	for {
		state := recorder.State()
		now := settle(state, p.blind())
		differences := now.differences(input.after)
		waited := time.Since(began)
		if !input.after.resting && !last && (len(differences) == 0 || waited >= min(input.pause+slack, longest)) {
			return Result{}, nil
		}
		if text := encode(now); text != changed {
			changed, passes = text, passesOf(state)
		}
		over := waited >= longest || waited >= input.pause+slack && roundSince(state, passes)
		if waited >= 2*longest {
			return Result{Busy: true}, nil
		}
		still := stillness(state, now)
		if still == before && now.resting && (len(differences) == 0 || over) {
			if !input.after.resting {
				return Result{}, nil
			}
			return Result{Compared: true, Differences: differences}, nil
		}
		before = still
		if err := wait.Sleep(ctx, round); err != nil {
			return Result{}, err
		}
	}
}

// passesOf returns how many keys each queue has handed out.
func passesOf(s *trace.State) map[string]uint64 {
	passes := map[string]uint64{}
	for name, q := range s.Queues {
		passes[name] = q.Got
	}
	return passes
}

// roundSince reports whether each queue has handed out as many keys as are delayed.
func roundSince(s *trace.State, passes map[string]uint64) bool {
	for name, q := range s.Queues {
		if q.Got-passes[name] < uint64(len(q.Delayed)) {
			return false
		}
	}
	return true
}

// stillness is what does not change between two looks at a pipeline at rest. The counts of handlers
// do: a slow one may have work for a long time.
func stillness(s *trace.State, now settled) string {
	still := map[string]any{"settled": now, "requests": s.Requests.Started}
	for name, i := range s.Informers {
		still[name] = []any{i.Reflector.Position, i.Reflector.Phase, i.FIFO.Queued, i.FIFO.Popped, i.Applied.Number}
	}
	for name, q := range s.Queues {
		still["queue "+name] = []uint64{q.Added, q.Got, q.Done}
	}
	return encode(still)
}

func encode(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return string(text)
}

// blinds reports whether a fault keeps watches from coming back.
func blinds(fault string) bool { return strings.Contains(fault, "verb=watch") }

func (p *player) blind() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.faults, func(f fault) bool { return blinds(f.text) })
}
