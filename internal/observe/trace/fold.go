package trace

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// NewState returns the state before the first event.
func NewState() *State {
	return &State{
		Gears: map[string]bool{}, Lost: map[string]uint64{},
		Informers: map[string]*InformerState{}, Queues: map[string]*QueueState{},
		Namespaces: map[string]*NamespaceState{},
		Requests:   RequestsState{Latest: map[string]*RequestState{}, Watches: map[string]*RequestState{}},
		Lab:        LabState{Held: map[string][]string{}},
	}
}

// Clone returns a copy that shares nothing with s, and that no difference is asked of.
func (s *State) Clone() *State {
	out := NewState()
	if err := json.Unmarshal(encode(s), out); err != nil {
		panic(err)
	}
	for name, q := range s.Queues {
		if q != nil { // a file may say null
			out.Queues[name].last = q.last
		}
	}
	return out
}

// Apply changes s to the state after e, which depends on s and e alone. It accepts any events in
// any order, and counts in Odd those that contradict s. That of an unknown gear changes only Seq and
// Time.
func (s *State) Apply(e *Event) {
	s.Seq, s.Time = e.Seq, e.Time
	gear, hook, _ := strings.Cut(e.Name, ".")
	if apply := applies[gear]; apply != nil {
		put(s, s.Gears, gear, true)
		apply(s, hook, e)
	}
}

// applies are the folds by gear.
var applies = map[string]func(s *State, hook string, e *Event){
	"reflector":  func(s *State, hook string, e *Event) { s.informer(e.In).Reflector.apply(hook, e) },
	"deltafifo":  func(s *State, hook string, e *Event) { s.informer(e.In).FIFO.apply(s, hook, e) },
	"indexer":    func(s *State, hook string, e *Event) { s.informer(e.In).Store.apply(s, hook, e) },
	"informer":   func(s *State, hook string, e *Event) { s.informer(e.In).apply(s, hook, e) },
	"queue":      func(s *State, hook string, e *Event) { s.queue(e.In).apply(s, hook, e) },
	"nsctl":      (*State).applyNamespace,
	"restclient": func(s *State, hook string, e *Event) { s.Requests.apply(s, hook, e) },
	"lab":        func(s *State, hook string, e *Event) { s.Lab.apply(s, hook, e) },
	"trace":      (*State).applyTrace,
}

func (s *State) applyTrace(hook string, e *Event) {
	switch hook {
	case "lost":
		for gear, n := range e.Lost {
			put(s, s.Lost, gear, s.Lost[gear]+n)
		}
	case "end":
		s.Ended = e.Reason
	}
}

func (s *State) queue(name string) *QueueState {
	if q := change(s, s.Queues, name); q != nil {
		return q
	}
	return put(s, s.Queues, name, &QueueState{
		Queue: map[string]uint64{}, Processing: map[string]*ProcessingState{},
		Delayed: map[string]DelayState{}, Failures: map[string]int64{},
	})
}

// Waiting returns the waiting keys, next first.
func (q *QueueState) Waiting() []string {
	bySeq := func(a, b string) int { return cmp.Compare(q.Queue[a], q.Queue[b]) }
	return slices.SortedFunc(maps.Keys(q.Queue), bySeq)
}

func (q *QueueState) apply(s *State, hook string, e *Event) {
	switch hook {
	case "added":
		q.Added++
		if p := change(s, q.Processing, e.Key); p == nil {
			q.push(s, e)
		} else {
			if p.Dirty {
				s.Odd++
			}
			p.Dirty = true
		}
	case "coalesced":
		q.Coalesced++
	case "delayed":
		// The queue reports the time that is left, which is shorter than requested if an earlier
		// deadline was set.
		if e.Micros > 0 {
			put(s, q.Delayed, e.Key, DelayState{At: e.Time, Micros: e.Micros})
		}
	case "delayCanceled", "delayEnded":
		if _, known := q.Delayed[e.Key]; !known {
			s.Odd++
		}
		drop(s, q.Delayed, e.Key)
	case "got":
		q.Got++
		q.get(s, e)
	case "done":
		q.Done++
		q.done(s, e)
	case "retried":
		q.Retried++
		put(s, q.Failures, e.Key, e.N)
	case "forgotten":
		drop(s, q.Failures, e.Key)
	case "shuttingDown":
		q.ShuttingDown, q.Draining = true, e.Drain
		q.Delayed = map[string]DelayState{}
	}
	q.Total, q.DelayedTotal = int64(len(q.Queue)), int64(len(q.Delayed))
	q.Peak = max(q.Peak, q.Total)
}

func (q *QueueState) push(s *State, e *Event) {
	if q.Queue[e.Key] > 0 {
		s.Odd++
		return
	}
	put(s, q.Queue, e.Key, e.Seq)
}

func (q *QueueState) get(s *State, e *Event) {
	seq, processed := q.Queue[e.Key], q.Processing[e.Key] != nil
	if seq < q.last || seq == 0 || processed { // one behind it came first, or it was not added
		s.Odd++
	}
	q.last = max(q.last, seq)
	drop(s, q.Queue, e.Key)
	if processed {
		return
	}
	slot := slices.Index(q.Slots(), "")
	if slot < 0 {
		slot = q.Workers
		q.Workers++
	}
	put(s, q.Processing, e.Key, &ProcessingState{Slot: slot, At: e.Time})
}

// Slots returns the workers: each has its key, "" if it is idle.
func (q *QueueState) Slots() []string {
	slots := make([]string, q.Workers)
	for key, p := range q.Processing {
		slots[p.Slot] = key
	}
	return slots
}

func (q *QueueState) done(s *State, e *Event) {
	p := q.Processing[e.Key]
	if p == nil {
		s.Odd++
		return
	}
	drop(s, q.Processing, e.Key)
	if p.Dirty {
		q.push(s, e)
	}
}

// mostNamespaces is the number from which on a namespace that is gone makes room for a new one: the
// one whose last pass began first.
const mostNamespaces = 5000

// namespace returns the state of a namespace.
func (s *State) namespace(key string) *NamespaceState {
	if n := change(s, s.Namespaces, key); n != nil {
		return n
	}
	if len(s.Namespaces) >= mostNamespaces {
		oldest := ""
		for other, n := range s.Namespaces {
			if n.Gone && (oldest == "" ||
				cmp.Or(cmp.Compare(n.PassAt, s.Namespaces[oldest].PassAt), cmp.Compare(other, oldest)) < 0) {
				oldest = other
			}
		}
		if oldest != "" {
			drop(s, s.Namespaces, oldest)
		}
	}
	return put(s, s.Namespaces, key, &NamespaceState{
		Phases: map[string]int64{}, Remaining: map[string]int64{}, Conditions: map[string]ConditionState{},
	})
}

func (s *State) applyNamespace(hook string, e *Event) {
	if e.Key == "" {
		return // emptinessChecked is about all namespaces
	}
	if n := s.Namespaces[e.Key]; n != nil && hook == "enqueued" && e.UID != "" && n.UID != "" && n.UID != e.UID {
		drop(s, s.Namespaces, e.Key) // another namespace of this name
	}
	s.namespace(e.Key).apply(s, hook, e)
}

func (n *NamespaceState) apply(s *State, hook string, e *Event) {
	switch hook {
	case "enqueued":
		n.UID, n.DueAt, n.Due = e.UID, e.Time, e.Micros
	case "gone":
		n.Gone = true
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
		n.Running, n.Failures, n.Err, n.Phase, n.PhaseAt = false, e.N, e.Err, "", 0
	case "phaseStarted":
		n.Phase, n.PhaseAt = e.Phase, e.Time
	case "phaseDone":
		put(s, n.Phases, e.Phase, n.Phases[e.Phase]+e.Micros)
		if n.Phase == e.Phase {
			n.Phase, n.PhaseAt = "", 0
		}
	case "typeDeleted", "wouldDelete":
		if drop(s, n.Remaining, e.Resource); e.N > 0 {
			put(s, n.Remaining, e.Resource, e.N)
		}
	case "conflict":
		n.Conflicts++
	case "conditionsUpdated":
		put(s, n.Conditions, e.Type, ConditionState{Status: e.Status, Reason: e.Reason, Message: e.Message})
	}
}
