package trace

import (
	"time"

	"orrery/deltafifo"
	"orrery/indexer"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/queue"
)

// InformerSnapshots is what an informer says about itself. *informer.SharedIndexInformer has it.
type InformerSnapshots interface {
	Snapshot() informer.Snapshot
	QueueSnapshot() deltafifo.Snapshot
	StoreSnapshot() indexer.Snapshot
}

// RepairQueue makes the recorder read snapshots of the work queue with this name after events of a
// queue were lost. Without snapshots of all queues, State.Unsure keeps "queue" forever. snapshot
// is called on the collector's goroutine and must not call the Recorder. A nil Recorder does
// nothing.
func (r *Recorder) RepairQueue(name string, snapshot func() queue.Snapshot[string]) {
	if r == nil {
		return
	}
	r.collector.mu.Lock()
	defer r.collector.mu.Unlock()
	r.collector.repairs.queues[name] = snapshot
}

// RepairInformer is RepairQueue for the gears of the informer with this name. They have no sequence
// numbers, so they are read while the informer is at rest: the collector waits until its hooks are
// silent, its queue processes nothing and, for its listeners, no event waits for a handler.
func (r *Recorder) RepairInformer(name string, snapshots InformerSnapshots) {
	if r == nil {
		return
	}
	r.collector.mu.Lock()
	defer r.collector.mu.Unlock()
	r.collector.repairs.informers[name] = snapshots
}

// repairs are the snapshots of the gears, and which of them are to be read. The collector's mutex
// guards it.
type repairs struct {
	queues    map[string]func() queue.Snapshot[string]
	informers map[string]InformerSnapshots
	// wanted are the informers with uncertain content, by gear; active is when the last event of
	// such an informer was collected.
	wanted map[gear]map[string]bool
	active map[string]time.Time
}

func newRepairs() repairs {
	return repairs{
		queues: map[string]func() queue.Snapshot[string]{}, informers: map[string]InformerSnapshots{},
		wanted: map[gear]map[string]bool{}, active: map[string]time.Time{},
	}
}

// waits reports whether an informer with snapshots is to be repaired.
func (p *repairs) waits() bool {
	for _, names := range p.wanted {
		for name := range names {
			if p.informers[name] != nil {
				return true
			}
		}
	}
	return false
}

// saw notes which of the informers to repair are not at rest.
func (p *repairs) saw(records []record) {
	if len(p.wanted) == 0 {
		return
	}
	now := time.Now()
	for i := range records {
		if e := &records[i]; ofInformer(kinds[e.kind].gear) {
			p.active[e.in] = now
		}
	}
}

func ofInformer(g gear) bool { return g <= gearInformer }

// want notes that the content of a gear is uncertain in every informer.
func (p *repairs) want(g gear, s *State) {
	names := map[string]bool{}
	for name := range s.Informers {
		names[name] = true
	}
	for name := range p.informers {
		names[name] = true
	}
	p.wanted[g] = names
	now := time.Now()
	for name := range names {
		p.active[name] = now
	}
}

// readQueues reads all queues after a loss. What a snapshot has and no event has brought yet counts
// as missing, and is dropped if it comes.
func (c *collector) readQueues() map[string]queue.Snapshot[string] {
	read := map[string]queue.Snapshot[string]{}
	for name, snapshot := range c.repairs.queues {
		s := snapshot()
		if s.Seq < c.queues[name] {
			continue // another queue of this name: its numbers do not fit
		}
		c.gaps += s.Seq - c.queues[name]
		c.queues[name] = s.Seq
		read[name] = s
	}
	return read
}

// repairQueues sets the queues that were read. It reports whether they are all that there are.
func (c *collector) repairQueues(read map[string]queue.Snapshot[string]) {
	for name, s := range read {
		c.state.queue(name).repair(s, c.time)
	}
	for name := range c.state.Queues {
		if _, ok := read[name]; !ok {
			return
		}
	}
	delete(c.state.Unsure, gearNames[gearQueue])
}

// repairInformers repairs the informers that are at rest, and reports whether there were any.
func (c *collector) repairInformers(r *Recorder) (repaired bool) {
	for name, snapshots := range c.repairs.informers {
		if c.repairs.wants(name) && time.Since(c.repairs.active[name]) >= interval {
			repaired = c.repairInformer(r, name, snapshots) || repaired
		}
	}
	for g, names := range c.repairs.wanted {
		if len(names) == 0 {
			delete(c.repairs.wanted, g)
			delete(c.state.Unsure, gearNames[g])
		}
	}
	return repaired
}

func (p *repairs) wants(name string) bool {
	for _, names := range p.wanted {
		if names[name] {
			return true
		}
	}
	return false
}

// repairInformer reads an informer, and uses what it says unless a hook was called meanwhile.
func (c *collector) repairInformer(r *Recorder, name string, snapshots InformerSnapshots) (repaired bool) {
	before, store := snapshots.QueueSnapshot(), snapshots.StoreSnapshot()
	whole, fifo := snapshots.Snapshot(), snapshots.QueueSnapshot()
	if r.heard(name) {
		return false
	}
	i := c.state.informer(name)
	set := func(g gear, repair func()) {
		if names := c.repairs.wanted[g]; names[name] {
			repair()
			delete(names, name)
			repaired = true
		}
	}
	if before.InFlight == nil && fifo.InFlight == nil {
		set(gearReflector, func() { i.Reflector.repair(whole.Reflector) })
		set(gearFIFO, func() { i.FIFO.repair(fifo, c.time) })
		set(gearIndexer, func() { i.Store.repair(store) })
	}
	for _, h := range whole.Handlers {
		if h.Pending > 0 {
			return repaired
		}
	}
	set(gearInformer, func() { i.repairHandlers(whole) })
	return repaired
}

// heard reports whether an event of an informer is in the buffer, or was lost.
func (r *Recorder) heard(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.records {
		if e := &r.records[i]; ofInformer(kinds[e.kind].gear) && e.in == name {
			return true
		}
	}
	for g := range gearInformer + 1 {
		if r.lost[g] > 0 {
			return true
		}
	}
	return false
}

// repair sets what a snapshot has. It has no failures: Failures is empty until the next retry.
func (q *QueueState) repair(s queue.Snapshot[string], at int64) {
	q.Queue, q.Total = append([]string{}, s.Queued[:min(len(s.Queued), limit)]...), int64(len(s.Queued))
	q.Peak = max(q.Peak, q.Total)
	q.Failures = map[string]int64{}
	q.ShuttingDown, q.Draining = s.ShuttingDown, s.Draining

	before := q.Processing
	q.Processing = map[string]*ProcessingState{}
	var found []queue.ProcessingKey[string] // without a worker in the state
	for _, p := range s.Processing[:min(len(s.Processing), limit)] {
		if known := before[p.Key]; known != nil {
			known.Dirty = p.Dirty
			q.Processing[p.Key] = known
		} else {
			found = append(found, p)
		}
	}
	for slot, key := range q.Slots {
		if p := q.Processing[key]; p == nil || p.Slot != slot {
			q.Slots[slot] = ""
		}
	}
	for _, p := range found {
		q.Processing[p.Key] = &ProcessingState{Slot: q.takeSlot(p.Key), At: max(0, at-p.For.Microseconds()), Dirty: p.Dirty}
	}

	q.Delayed, q.DelayedTotal = map[string]DelayState{}, int64(len(s.Delayed))
	for _, d := range s.Delayed[:min(len(s.Delayed), limit)] {
		q.Delayed[d.Key] = DelayState{At: at, Micros: max(0, d.In.Microseconds())}
	}
}

func (r *ReflectorState) repair(s reflector.Snapshot) {
	r.Phase, r.Position, r.Open = s.Phase.String(), s.ResourceVersion, s.Phase == reflector.PhaseWatching
	r.Events, r.Bookmarks, r.Failures = uint64(s.Events), uint64(s.Bookmarks), uint64(s.Failures)
	if s.Phase != reflector.PhaseBackingOff {
		r.BackOff, r.BackOffAt = 0, 0
	}
}

// repair sets what a snapshot has.
func (f *FIFOState) repair(s deltafifo.Snapshot, at int64) {
	f.Slots, f.Total, f.InFlight = []SlotState{}, 0, nil
	for _, entry := range s.Waiting {
		for _, delta := range entry.Types {
			f.append(entry.Key, Letter(delta), at)
		}
	}
	f.Synced, f.Closed = s.Synced, s.Closed
}

// repair sets the keys. Their resource versions are unknown.
func (t *StoreState) repair(s indexer.Snapshot) {
	t.Objects, t.Total = map[string]string{}, int64(len(s.Keys))
	for _, key := range s.Keys[:min(len(s.Keys), limit)] {
		t.Objects[key] = ""
	}
	t.Key, t.Kind, t.From, t.To = "", "", "", ""
}

// repairHandlers sets the listeners, for none of which an event waits.
func (i *InformerState) repairHandlers(s informer.Snapshot) {
	before := i.Handlers
	i.Handlers = map[string]*HandlerState{}
	for _, h := range s.Handlers[:min(len(s.Handlers), limit)] {
		name := handlerName(&record{a: h.Handler, id: h.ID})
		state := before[name]
		if state == nil {
			state = &HandlerState{}
		}
		state.Pending, state.Peak, state.Handled, state.Merged, state.Panics = 0, int64(h.PeakPending), h.Handled, h.Merged, h.Panics
		state.Synced = h.HasSynced
		state.Key, state.Kind, state.Number, state.CallAt, state.Stuck = "", "", 0, 0, 0
		i.Handlers[name] = state
	}
	for name, state := range before {
		if i.Handlers[name] == nil && state.Ended && !state.Removed { // it ended with the informer
			i.Handlers[name] = state
		}
	}
	i.Errors = s.ProcessErrors
	switch {
	case s.State == informer.StateStopped:
		i.Phase = "stopped"
	case s.HasSynced:
		i.Phase = "synced"
	case s.State == informer.StateRunning:
		i.Phase = "started"
	}
}
