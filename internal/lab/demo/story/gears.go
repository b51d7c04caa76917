package story

import (
	"slices"
	"strings"
	"time"

	"orrery/internal/observe/trace"
)

// NamespaceQueue is the name of the namespace controller's work queue.
const NamespaceQueue = "namespace"

// Gears has the counters of each gear, summed over all informers.
type Gears struct {
	// Reflectors. Open is the number of open watches.
	Lists, Watches, Open, Events, Expired int
	// DeltaFIFOs. Depth is the number of waiting keys, MostDepth the most in one of them.
	Deltas, Pops, Depth, MostDepth, Tombstones int
	// Indexers
	Objects int
	// Shared processors: calls of handlers.
	Calls int
	// The namespace controller's queue. Ready is the number of keys that wait for a worker, Later of
	// delayed keys.
	Adds, Coalesced, Retries, Ready, Later int
	// Workers
	Workers, Busy, Passes, Conflicts int
}

// gearsOf counts what a run has done.
func gearsOf(run *trace.State, workers int) Gears {
	g := Gears{Workers: workers}
	for _, i := range run.Informers {
		r, f := i.Reflector, i.FIFO
		g.Lists, g.Watches, g.Expired = g.Lists+int(r.Lists), g.Watches+int(r.Watches), g.Expired+int(r.Expired)
		g.Events += int(r.Events)
		if r.Open {
			g.Open++
		}
		g.Deltas, g.Pops, g.Tombstones = g.Deltas+int(f.Queued), g.Pops+int(f.Popped), g.Tombstones+int(f.Tombstones)
		g.Depth += int(f.Total)
		g.MostDepth = max(g.MostDepth, int(f.Peak))
		if i.Phase != "stopped" {
			g.Objects += int(i.Store.Total)
		}
		for _, h := range i.Handlers {
			g.Calls += int(h.Handled)
		}
	}
	if q := run.Queues[NamespaceQueue]; q != nil {
		g.Adds, g.Coalesced, g.Retries, g.Passes = int(q.Added), int(q.Coalesced), int(q.Retried), int(q.Got)
		g.Ready, g.Later, g.Busy = int(q.Total), int(q.DelayedTotal), len(q.Processing)
	}
	for _, n := range run.Namespaces {
		g.Conflicts += int(n.Conflicts)
	}
	return g
}

// happened applies an event of the recording, and tells it.
func (t *Teller) happened(e *trace.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &t.state
	s.Elapsed = min(time.Since(t.began), s.since(e.Time)) // it may be told late
	if n := len(s.Beats); n > 0 {
		s.Elapsed = max(s.Elapsed, s.Beats[n-1].At)
	}
	if who, text := s.sentence(e); text != "" && t.firstLocked(e) {
		s.Tell(who, "%s", text)
	}
	s.Run.Apply(e)
	s.Gears = gearsOf(s.Run, s.Gears.Workers)
	s.draw(e)
	s.stage(e)
	t.noticeLocked()
}

// firstLocked reports whether an event is the first of its kind for its key. Others are told each
// time.
func (t *Teller) firstLocked(e *trace.Event) bool {
	gear, hook, _ := strings.Cut(e.Name, ".")
	switch {
	case e.Key == "", gear == "nsctl" && hook != "typeDeleted", gear == "queue" && slices.Contains(delays, hook):
		return true
	case gear == "nsctl" && e.N > 0 || e.Err != "", t.state.Alone && e.Name != "queue.coalesced":
		return true
	}
	uid := "" // the deletion of another namespace of the same name is told again
	if n := t.state.Run.Namespaces[e.Key]; n != nil && gear == "nsctl" {
		uid = n.UID
	}
	kind := strings.Join([]string{e.Name, e.In, e.Key, uid, e.Type, e.Deltas, e.Kind, e.Resource}, " ")
	first := !t.told[kind]
	t.told[kind] = true
	return first
}

var delays = []string{"delayed", "delayEnded", "retried", "forgotten"}

// draw changes the bars that an event is about.
func (s *State) draw(e *trace.Event) {
	i := s.Run.Informers[e.In]
	if i == nil {
		return
	}
	s.Count(e.In, int(i.Store.Total))
	if e.In != s.Backlog || e.Handler == "" {
		return
	}
	if h := i.Handlers[e.Handler]; h != nil {
		name, _, _ := strings.Cut(e.Handler, "#")
		s.Line(name+" waits", int(h.Pending))
	}
}
