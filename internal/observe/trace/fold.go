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
		Events: map[string]uint64{}, Lost: map[string]uint64{}, Unsure: map[string]bool{},
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
	"store":          func(s *State, hook string, e *Event) { s.Lab.apply(s, "store."+hook, e) },
	"lab":            func(s *State, hook string, e *Event) { s.Lab.apply(s, hook, e) },
	"trace":          (*State).applyTrace,
}

func (s *State) applyTrace(hook string, e *Event) {
	switch hook {
	case "lost":
		for gear, n := range e.Lost {
			s.Lost[gear] += n
			s.Unsure[gear] = true
		}
	case "end":
		s.Ended = e.Reason
	}
}

// informer returns the state of an informer, a new one at its first event.
func (s *State) informer(name string) *InformerState {
	i := s.Informers[name]
	if i == nil {
		i = &InformerState{
			Reflector: ReflectorState{Phase: "Idle"}, FIFO: FIFOState{Slots: []SlotState{}},
			Store: StoreState{Objects: map[string]string{}}, Handlers: map[string]*HandlerState{},
		}
		s.Informers[name] = i
	}
	return i
}

func (r *ReflectorState) apply(hook string, e *Event) {
	if e.Err != "" {
		r.Err = e.Err
	}
	switch hook {
	case "stateChanged":
		r.Phase, r.On, r.PhaseAt = e.To, e.On, e.Time
		if e.To != "BackingOff" {
			r.BackOff, r.BackOffAt = 0, 0
		}
	case "pageListed":
		r.Pages = e.Page
	case "listed":
		r.Lists++
		r.Position, r.Items, r.Pages, r.Failures = e.ResourceVersion, e.N, e.Pages, 0
	case "watchStarted":
		r.Watches++
		r.Open, r.OpenAt, r.Failures = true, e.Time, 0
	case "watchEnded":
		r.Open = false
	case "event":
		r.Events++
		r.Failures = 0
		r.moved(e.ResourceVersion)
	case "stale":
		r.Stale++
	case "bookmark":
		if !e.Initial {
			r.Bookmarks++
		}
		r.moved(e.ResourceVersion)
	case "backOff":
		r.Failures++
		r.BackOff, r.BackOffAt = e.Micros, e.Time
	case "expired":
		r.Expired++
	case "idleTimeout", "zombie":
		r.Idle++
	case "resync":
		r.Resyncs++
	case "storeFailed":
		r.StoreErrors++
	}
}

func (r *ReflectorState) moved(version string) {
	if version != "" {
		r.Position = version
	}
}

func (f *FIFOState) apply(s *State, hook string, e *Event) {
	switch hook {
	case "queued":
		f.Queued++
		f.append(e.Key, e.Deltas, e.Time)
	case "deduplicated":
		f.Deduplicated++
	case "ignored":
		f.Ignored++
	case "canceled":
		f.Canceled++
		f.take(s, e.Key, 1)
	case "replaced":
		f.Replaces++
		f.Tombstones += uint64(e.M)
	case "popped":
		f.Popped++
		n := deltasOf(e)
		f.take(s, e.Key, n)
		if int64(len(f.Slots)) < f.Total { // keys that are only counted may be counted twice
			f.Total = max(e.N, int64(len(f.Slots)))
		}
		f.InFlight = &SlotState{Key: e.Key, Deltas: e.Deltas, N: n, At: e.Time}
	case "processed":
		if e.Err != "" {
			f.Failed++
		}
		if f.InFlight == nil || f.InFlight.Key != e.Key {
			s.Odd++
		}
		f.InFlight = nil
	case "requeued":
		f.Requeued++
		f.put(SlotState{Key: e.Key, Deltas: e.Deltas, N: deltasOf(e), At: e.Time})
	case "synced":
		f.Synced = true
	case "closed":
		f.Closed = true
	}
}

// deltasOf returns the number of deltas of an event, of which d has the first ones.
func deltasOf(e *Event) int64 { return max(e.M, int64(len([]rune(e.Deltas)))) }

// append adds a delta to the slot of its key. A deletion behind a deletion does not lengthen it;
// one that was watched takes the place of a tombstone.
func (f *FIFOState) append(key, delta string, at int64) {
	i := f.slot(key)
	if i < 0 {
		f.put(SlotState{Key: key, Deltas: delta, N: 1, At: at})
		return
	}
	slot := &f.Slots[i]
	last := slot.last()
	switch {
	case isDeletion(last) && isDeletion(delta):
		if last == tombstone {
			slot.Deltas = strings.TrimSuffix(slot.Deltas, tombstone) + delta
		}
	case slot.N < packed:
		slot.Deltas += delta
		slot.N++
	default:
		slot.N++
	}
}

// last returns the letter of the newest delta, "" if it is not kept.
func (s *SlotState) last() string {
	letters := []rune(s.Deltas)
	if int64(len(letters)) != s.N || s.N == 0 {
		return ""
	}
	return string(letters[len(letters)-1])
}

func isDeletion(letter string) bool { return letter == "D" || letter == tombstone }

func (f *FIFOState) slot(key string) int {
	return slices.IndexFunc(f.Slots, func(s SlotState) bool { return s.Key == key })
}

// put sets the slot of a key; a new one goes to the end.
func (f *FIFOState) put(slot SlotState) {
	if i := f.slot(slot.Key); i >= 0 {
		slot.At = f.Slots[i].At
		f.Slots[i] = slot
		return
	}
	if len(f.Slots) < limit && int64(len(f.Slots)) == f.Total {
		f.Slots = append(f.Slots, slot)
	}
	f.Total++
	f.Peak = max(f.Peak, f.Total)
}

// take removes the first n deltas of a key, and the slot with the last one.
func (f *FIFOState) take(s *State, key string, n int64) {
	i := f.slot(key)
	if i < 0 {
		if int64(len(f.Slots)) == f.Total {
			s.Odd++
		} else {
			f.Total--
		}
		return
	}
	slot := &f.Slots[i]
	if n > slot.N {
		s.Odd++
	}
	if n >= slot.N {
		f.Slots = slices.Delete(f.Slots, i, i+1)
		f.Total--
		return
	}
	letters := []rune(slot.Deltas)
	slot.Deltas = string(letters[min(n, int64(len(letters))):])
	slot.N -= n
}

func (t *StoreState) apply(s *State, hook string, e *Event) {
	t.Key, t.Kind = e.Key, hook
	_, known := t.Objects[e.Key]
	complete := int64(len(t.Objects)) == t.Total
	switch hook {
	case "added":
		if known {
			s.Odd++
			return
		}
		if complete && t.Total < limit {
			t.Objects[e.Key] = ""
		}
		t.Total++
	case "updated":
		if complete && !known {
			s.Odd++
		}
	case "deleted":
		if complete && !known {
			s.Odd++
			return
		}
		delete(t.Objects, e.Key)
		t.Total--
	case "replaced":
		t.Objects, t.Total = map[string]string{}, e.N
	case "indexFailed":
		t.Failed++
	}
}

func (i *InformerState) apply(s *State, hook string, e *Event) {
	if strings.HasPrefix(hook, "handle") {
		i.applyHandler(s, hook, e)
		return
	}
	switch hook {
	case "started", "synced", "stopped":
		i.Phase = hook
	case "applied":
		i.Applied = AppliedState{Number: e.Number, Key: e.Key, Kind: e.Kind, Deltas: e.Deltas}
		i.Store.From, i.Store.To = i.Store.Objects[e.Key], ""
		if e.Kind != "" && e.Kind != "delete" {
			i.Store.To = e.ResourceVersion
			if _, known := i.Store.Objects[e.Key]; known {
				i.Store.Objects[e.Key] = e.ResourceVersion
			}
		}
	case "distributed":
		if i.Applied.Number == e.Number {
			i.Applied.Listeners = e.N
		}
	case "resyncDue":
		if e.N > 0 {
			i.Resyncs++
		}
	case "processError":
		i.Errors++
		i.Err = e.Err
	case "mutated":
		i.Mutated++
	}
}

func (i *InformerState) applyHandler(s *State, hook string, e *Event) {
	h := i.Handlers[e.Handler]
	if h == nil {
		if len(i.Handlers) >= limit {
			return
		}
		h = &HandlerState{}
		i.Handlers[e.Handler] = h
	}
	switch hook {
	case "handlerAdded":
		h.Pending += e.N
		h.Peak = max(h.Peak, h.Pending)
	case "handlerQueued":
		h.Pending += e.N - e.Merged
		h.Merged += uint64(e.Merged)
		h.Peak = max(h.Peak, h.Pending)
	case "handlerCalled":
		h.Key, h.Kind, h.Number, h.CallAt, h.Stuck = e.Key, e.Kind, e.Number, e.Time, 0
	case "handled":
		if h.Kind == "" {
			s.Odd++
		}
		h.Handled++
		h.Pending--
		h.Key, h.Kind, h.Number, h.CallAt, h.Stuck, h.Micros = "", "", 0, 0, 0, e.Micros
	case "handlerPanicked":
		h.Panics++
	case "handlerSynced":
		h.Synced = true
	case "handlerLagging":
		h.Lagging = e.N
	case "handlerStuck":
		h.Stuck = e.Micros
	case "handlerBlocked":
		h.Blocked++
	case "handlerRemoved":
		h.Removed = true
	case "handlerEnded":
		h.Ended, h.Dropped = true, e.N
		h.Pending = 0
	}
	if h.Removed && h.Ended {
		delete(i.Handlers, e.Handler)
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
