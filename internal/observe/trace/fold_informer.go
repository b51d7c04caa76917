package trace

import (
	"slices"
	"strings"
	"unicode/utf8"
)

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

// deltasOf returns the number of deltas of an event. The string may have only the newest of them.
func deltasOf(e *Event) int64 { return max(e.M, int64(utf8.RuneCountInString(e.Deltas))) }

// append adds a delta to the slot of its key. A deletion behind a deletion does not lengthen it;
// one that was watched takes the place of a tombstone.
func (f *FIFOState) append(key, delta string, at int64) {
	i := f.slot(key)
	if i < 0 {
		f.put(SlotState{Key: key, Deltas: delta, N: 1, At: at})
		return
	}
	slot := &f.Slots[i]
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
	older := max(0, slot.N-int64(utf8.RuneCountInString(slot.Deltas))) // deltas without a letter
	slot.Deltas = without(slot.Deltas, n-older)
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
