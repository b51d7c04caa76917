package trace

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// NewState returns the state before the first event.
func NewState() *State {
	return &State{
		Events: map[string]uint64{}, Lost: map[string]uint64{},
		Informers: map[string]*InformerState{}, Queues: map[string]*QueueState{}, Namespaces: map[string]*NamespaceState{},
		Requests: RequestsState{Running: map[string]*RequestState{}, Watches: map[string]*RequestState{}, Recent: []RequestState{}},
		Lab:      LabState{Held: map[string][]string{}},
	}
}

// Clone returns a copy that shares nothing with s.
func (s *State) Clone() *State {
	out := NewState()
	if err := json.Unmarshal(encodeState(s), out); err != nil {
		panic(err)
	}
	return out
}

// Apply changes s to the state after e. It is a pure function of s and e, accepts any events in any
// order, and counts in Odd those that contradict s. An unknown event changes only Seq and Time.
//
// A trace.state with a State replaces everything.
func (s *State) Apply(e *Event) {
	if e.Name == traceState && e.State != nil {
		*s = *e.State.Clone()
		s.complete()
	}
	s.Seq, s.Time = e.Seq, e.Time
	gear, hook, _ := strings.Cut(e.Name, ".")
	if apply := applies[gear]; apply != nil {
		s.Events[gear]++
		apply(s, hook, e)
	}
}

// applies are the folds by gear.
var applies = map[string]func(s *State, hook string, e *Event){
	"reflector":      func(s *State, hook string, e *Event) { s.informer(e.In).Reflector.apply(hook, e) },
	"deltafifo":      func(s *State, hook string, e *Event) { s.informer(e.In).FIFO.apply(s, hook, e) },
	"indexer":        func(s *State, hook string, e *Event) { s.informer(e.In).Store.apply(s, hook, e) },
	"informer":       func(s *State, hook string, e *Event) { s.informer(e.In).apply(s, hook, e) },
	"queue":          func(s *State, hook string, e *Event) { s.queue(e.In).apply(s, hook, e) },
	"nsctl":          (*State).applyNamespace,
	"restclient":     func(s *State, hook string, e *Event) { s.Requests.apply(s, hook, e) },
	"leaderelection": func(s *State, hook string, e *Event) { s.Election.apply(hook, e) },
	"apiserver":      func(s *State, hook string, e *Event) { s.Lab.apply(s, "apiserver."+hook, e) },
	"lab":            func(s *State, hook string, e *Event) { s.Lab.apply(s, hook, e) },
	"trace":          (*State).applyTrace,
}

func (s *State) applyTrace(hook string, e *Event) {
	switch hook {
	case "lost":
		for gear, n := range e.Lost {
			s.Lost[gear] += n
		}
	case "end":
		s.Ended = e.Reason
	}
}

func (s *State) queue(name string) *QueueState {
	q := s.Queues[name]
	if q == nil {
		q = &QueueState{
			Queue: []string{}, Processing: map[string]*ProcessingState{}, Slots: []string{},
			Delayed: map[string]DelayState{}, Failures: map[string]int64{},
		}
		s.Queues[name] = q
	}
	return q
}

func (q *QueueState) apply(s *State, hook string, e *Event) {
	switch hook {
	case "added":
		q.Added++
		if p := q.Processing[e.Key]; p != nil {
			if p.Dirty {
				s.Odd++
			}
			p.Dirty = true
			return
		}
		q.push(s, e.Key)
	case "coalesced":
		q.Coalesced++
	case "refused":
		q.Refused++
	case "delayed":
		if e.Micros > 0 {
			q.delay(e)
		}
	case "delayCanceled", "delayEnded":
		q.endDelay(s, e.Key)
	case "got":
		q.Got++
		q.get(s, e)
	case "done":
		q.Done++
		q.done(s, e.Key)
	case "doneUnknown":
		q.Unknown++
	case "retried":
		q.Retried++
		if _, known := q.Failures[e.Key]; known || len(q.Failures) < limit {
			q.Failures[e.Key] = e.N
		}
	case "forgotten":
		delete(q.Failures, e.Key)
	case "shuttingDown":
		q.ShuttingDown, q.Draining = true, e.Drain
		q.Delayed, q.DelayedTotal = map[string]DelayState{}, 0
	}
}

func (q *QueueState) push(s *State, key string) {
	if slices.Contains(q.Queue, key) {
		s.Odd++
		return
	}
	if len(q.Queue) < limit && int64(len(q.Queue)) == q.Total {
		q.Queue = append(q.Queue, key)
	}
	q.Total++
	q.Peak = max(q.Peak, q.Total)
}

func (q *QueueState) get(s *State, e *Event) {
	switch i := slices.Index(q.Queue, e.Key); {
	case i >= 0:
		if i > 0 {
			s.Odd++ // the first one comes first
		}
		q.Queue = slices.Delete(q.Queue, i, i+1)
		q.Total--
	case int64(len(q.Queue)) < q.Total:
		q.Total--
	default:
		s.Odd++
	}
	if q.Processing[e.Key] != nil {
		s.Odd++
		return
	}
	if len(q.Processing) >= limit {
		return
	}
	q.Processing[e.Key] = &ProcessingState{Slot: q.takeSlot(e.Key), At: e.Time}
}

// takeSlot gives a key the lowest free slot.
func (q *QueueState) takeSlot(key string) int {
	slot := slices.Index(q.Slots, "")
	if slot < 0 {
		slot = len(q.Slots)
		q.Slots = append(q.Slots, "")
	}
	q.Slots[slot] = key
	return slot
}

func (q *QueueState) done(s *State, key string) {
	p := q.Processing[key]
	if p == nil {
		s.Odd++
		return
	}
	if p.Slot >= 0 && p.Slot < len(q.Slots) {
		q.Slots[p.Slot] = ""
	}
	delete(q.Processing, key)
	if p.Dirty {
		q.push(s, key)
	}
}

// delay sets the deadline of a key. The queue reports the time that is left, which is shorter than
// requested if an earlier deadline was set.
func (q *QueueState) delay(e *Event) {
	_, known := q.Delayed[e.Key]
	switch {
	case known || len(q.Delayed) < limit && int64(len(q.Delayed)) == q.DelayedTotal:
		q.Delayed[e.Key] = DelayState{At: e.Time, Micros: e.Micros}
	case int64(len(q.Delayed)) < q.DelayedTotal:
		return // it may be among those that are only counted
	}
	if !known {
		q.DelayedTotal++
	}
}

func (q *QueueState) endDelay(s *State, key string) {
	if _, known := q.Delayed[key]; known {
		delete(q.Delayed, key)
		q.DelayedTotal--
	} else if int64(len(q.Delayed)) < q.DelayedTotal {
		q.DelayedTotal--
	} else {
		s.Odd++
	}
}

// namespace returns the state of a namespace; nil if there is no room for a new one.
func (s *State) namespace(key string) *NamespaceState {
	n := s.Namespaces[key]
	if n == nil {
		if len(s.Namespaces) >= limit {
			maps.DeleteFunc(s.Namespaces, func(_ string, n *NamespaceState) bool { return n.Gone })
		}
		if len(s.Namespaces) >= limit {
			return nil
		}
		n = &NamespaceState{Phases: map[string]int64{}, Remaining: map[string]int64{}, Conditions: map[string]ConditionState{}}
		s.Namespaces[key] = n
	}
	return n
}

func (s *State) applyNamespace(hook string, e *Event) {
	if e.Key == "" {
		return // emptinessChecked is about all namespaces
	}
	if n := s.Namespaces[e.Key]; n != nil && hook == "enqueued" && e.UID != "" && n.UID != "" && n.UID != e.UID {
		delete(s.Namespaces, e.Key) // another namespace of this name
	}
	if n := s.namespace(e.Key); n != nil {
		n.apply(s, hook, e)
	}
}

func (n *NamespaceState) apply(s *State, hook string, e *Event) {
	switch hook {
	case "enqueued":
		n.UID, n.DueAt, n.Due = e.UID, e.Time, e.Micros
	case "gone":
		n.Gone, n.Micros = true, e.Micros
	case "passContext":
		n.Pass = e.Pass
	case "passStarted":
		if n.Running {
			s.Odd++
		}
		n.Running, n.PassAt, n.Remaining = true, e.Time, map[string]int64{}
		n.Passes++
	case "passDone":
		if !n.Running {
			s.Odd++
		}
		n.Running, n.Failures, n.Err, n.Stuck, n.Phase, n.PhaseAt = false, e.N, e.Err, 0, "", 0
	case "passStuck":
		n.Stuck = e.Micros
	case "phaseStarted":
		n.Phase, n.PhaseAt = e.Phase, e.Time
	case "phaseDone":
		n.Phases[e.Phase] += e.Micros
		if n.Phase == e.Phase {
			n.Phase, n.PhaseAt = "", 0
		}
	case "discovered":
		n.Types = e.N
	case "typeDeleted", "wouldDelete":
		if delete(n.Remaining, e.Resource); e.N > 0 && len(n.Remaining) < limit {
			n.Remaining[e.Resource] = e.N
		}
	case "conflict":
		n.Conflicts++
	case "finalized":
		n.Finalized = n.Finalized || e.Err == ""
	case "conditionsUpdated":
		if len(n.Conditions) < limit {
			n.Conditions[e.Type] = ConditionState{Status: e.Status, Reason: e.Reason, Message: e.Message}
		}
	}
}
