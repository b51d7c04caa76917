package trace

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// informer returns the state of an informer, a new one at its first event.
func (s *State) informer(name string) *InformerState {
	if i := change(s, s.Informers, name); i != nil {
		return i
	}
	return put(s, s.Informers, name, &InformerState{
		Reflector: ReflectorState{Phase: "Idle"}, FIFO: FIFOState{Slots: map[string]*SlotState{}},
		Store: StoreState{Objects: map[string]string{}}, Handlers: map[string]*HandlerState{},
	})
}

func (r *ReflectorState) apply(hook string, e *Event) {
	if e.Err != "" {
		r.Err = e.Err
	}
	switch hook {
	case "stateChanged":
		r.Phase, r.PhaseAt = e.To, e.Time
		if e.To != "BackingOff" {
			r.BackOff = 0
		}
	case "listed":
		r.Lists++
		r.Position, r.Items, r.Failures = e.ResourceVersion, e.N, 0
	case "watchStarted":
		r.Watches++
		r.Open, r.Failures = true, 0
	case "watchEnded":
		r.Open = false
	case "event":
		r.Events++
		r.Failures = 0
		r.moved(e.ResourceVersion)
	case "bookmark":
		r.moved(e.ResourceVersion)
	case "backOff":
		r.Failures++
		r.BackOff = e.Micros
	case "expired":
		r.Expired++
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
		f.append(s, e)
	case "canceled":
		f.take(s, e.Key, 1)
	case "replaced":
		f.Tombstones += uint64(e.M)
	case "popped":
		f.Popped++
		n := deltasOf(e)
		f.take(s, e.Key, n)
		f.InFlight = &EntryState{Key: e.Key, Deltas: e.Deltas, N: n}
	case "processed":
		if f.InFlight == nil || f.InFlight.Key != e.Key {
			s.Odd++
		}
		f.InFlight = nil
	case "requeued":
		f.put(s, e.Key, SlotState{Seq: e.Seq, Deltas: e.Deltas, N: deltasOf(e)})
	}
	f.Total = int64(len(f.Slots))
	f.Peak = max(f.Peak, f.Total)
}

// deltasOf returns the number of deltas of an event. The string may have only the newest of them.
func deltasOf(e *Event) int64 { return max(e.M, int64(utf8.RuneCountInString(e.Deltas))) }

// append adds a delta to the slot of its key. A deletion behind a deletion does not lengthen it;
// one that was watched takes the place of a tombstone.
func (f *FIFOState) append(s *State, e *Event) {
	delta, slot := e.Deltas, change(s, f.Slots, e.Key)
	if slot == nil {
		f.put(s, e.Key, SlotState{Seq: e.Seq, Deltas: delta, N: 1})
		return
	}
	_, size := utf8.DecodeLastRuneInString(slot.Deltas)
	before, last := slot.Deltas[:len(slot.Deltas)-size], slot.Deltas[len(slot.Deltas)-size:]
	switch {
	case isDeletion(last) && isDeletion(delta):
		if last == tombstone {
			slot.Deltas = before + delta
		}
	default:
		letters := slot.Deltas + delta
		slot.Deltas = without(letters, int64(utf8.RuneCountInString(letters))-packed)
		slot.N++
	}
}

// without returns letters without the first n.
func without(letters string, n int64) string {
	for range n {
		_, size := utf8.DecodeRuneInString(letters)
		letters = letters[size:]
	}
	return letters
}

func isDeletion(letter string) bool { return letter == "D" || letter == tombstone }

// Waiting returns the slots, next first.
func (f *FIFOState) Waiting() (entries []EntryState) {
	bySeq := func(a, b string) int { return cmp.Compare(f.Slots[a].Seq, f.Slots[b].Seq) }
	for _, key := range slices.SortedFunc(maps.Keys(f.Slots), bySeq) {
		entries = append(entries, EntryState{Key: key, Deltas: f.Slots[key].Deltas, N: f.Slots[key].N})
	}
	return entries
}

// put sets the slot of a key; a new one goes to the end.
func (f *FIFOState) put(s *State, key string, slot SlotState) {
	if old := f.Slots[key]; old != nil {
		slot.Seq = old.Seq
	}
	put(s, f.Slots, key, &slot)
}

// take removes the first n deltas of a key, and the slot with the last one.
func (f *FIFOState) take(s *State, key string, n int64) {
	slot := change(s, f.Slots, key)
	if slot == nil {
		s.Odd++
		return
	}
	if n > slot.N {
		s.Odd++
	}
	if n >= slot.N {
		drop(s, f.Slots, key)
		return
	}
	older := max(0, slot.N-int64(utf8.RuneCountInString(slot.Deltas))) // deltas without a letter
	slot.Deltas = without(slot.Deltas, n-older)
	slot.N -= n
}

func (t *StoreState) apply(s *State, hook string, e *Event) {
	t.Key, t.Kind = e.Key, hook
	_, known := t.Objects[e.Key]
	switch hook {
	case "added":
		if known {
			s.Odd++
			return
		}
		put(s, t.Objects, e.Key, "")
	case "updated":
		if !known {
			s.Odd++
		}
	case "deleted":
		if !known {
			s.Odd++
		}
		drop(s, t.Objects, e.Key)
	case "replaced": // by others than an informer, which writes object by object; the keys are unknown
		t.Objects = map[string]string{}
	}
	t.Total = int64(len(t.Objects))
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
		i.Store.From, i.Store.To = i.Store.Objects[e.Key], ""
		if e.Kind != "" && e.Kind != "delete" {
			i.Store.To = e.ResourceVersion
			if _, known := i.Store.Objects[e.Key]; known {
				put(s, i.Store.Objects, e.Key, e.ResourceVersion)
			}
		}
	}
}

func (i *InformerState) applyHandler(s *State, hook string, e *Event) {
	h := change(s, i.Handlers, e.Handler)
	if h == nil {
		h = put(s, i.Handlers, e.Handler, &HandlerState{})
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
		h.Call = &CallState{Key: e.Key, Kind: e.Kind, At: e.Time}
	case "handled":
		if h.Call == nil {
			s.Odd++
		}
		h.Handled++
		h.Pending--
		h.Call, h.Micros = nil, e.Micros
	case "handlerPanicked":
		h.Panics++
	case "handlerRemoved":
		h.Removed = true
	case "handlerEnded":
		h.Ended = true
		h.Pending = 0
	}
	if h.Removed && h.Ended {
		drop(s, i.Handlers, e.Handler)
	}
}
