package demo

import (
	"maps"
	"slices"
	"strings"
	"time"

	"orrery/internal/observe/trace"
	"orrery/restclient/api"
)

// NamespaceQueue is the name of the namespace controller's work queue.
const NamespaceQueue = "namespace"

// Gears has the counters of each gear, summed over all informers.
type Gears struct {
	// Reflectors. Open is the number of open watches.
	Lists, Open, Events, Expired int
	// DeltaFIFOs. Depth is the number of waiting keys.
	Deltas, Depth, Tombstones int
	// Indexers
	Objects int
	// Shared processors: calls of handlers.
	Calls int
	// The namespace controller's queue. Ready is the number of keys that wait for a worker, Later of
	// delayed keys.
	Adds, Retries, Ready, Later int
	// Workers
	Workers, Busy, Passes int
	// Requests that were answered.
	Requests int
}

// sum counts what the run has done, and sets the bars.
func (s *State) sum() {
	g := Gears{Workers: s.Gears.Workers, Requests: int(s.Run.Requests.Done)}
	for name, i := range s.Run.Informers {
		r, f := i.Reflector, i.FIFO
		g.Lists += int(r.Lists)
		g.Expired += int(r.Expired)
		g.Events += int(r.Events)
		if r.Open {
			g.Open++
		}
		g.Deltas += int(f.Queued)
		g.Tombstones += int(f.Tombstones)
		g.Depth += int(f.Total)
		if i.Phase != "stopped" {
			g.Objects += int(i.Store.Total)
		}
		for _, h := range i.Handlers {
			g.Calls += int(h.Handled)
		}
		s.Count(name, int(i.Store.Total))
	}
	for _, name := range s.Backlog {
		s.Line(name+" waits", int(s.HandlerOf(name).Pending))
	}
	if q := s.Run.Queues[NamespaceQueue]; q != nil {
		g.Adds, g.Retries, g.Passes = int(q.Added), int(q.Retried), int(q.Got)
		g.Ready, g.Later, g.Busy = int(q.Total), int(q.DelayedTotal), len(q.Processing)
	}
	s.Gears = g
	s.Namespace = s.namespace()
}

// namespace returns what the run knows of the namespace: the controller has a state of it once it
// is being deleted.
func (s *State) namespace() NamespaceStory {
	n, deleting := NamespaceStory{Name: s.Namespace.Name}, s.Run.Namespaces[s.Namespace.Name]
	stored := false
	if i := s.Run.Informers["namespaces"]; i != nil {
		_, stored = i.Store.Objects[n.Name]
	}
	switch {
	case stored && (deleting == nil || deleting.Gone):
		n.Phase = "Active"
	case stored:
		n.Phase = "Terminating"
		for _, kind := range slices.Sorted(maps.Keys(deleting.Conditions)) {
			if deleting.Conditions[kind].Status == string(api.ConditionTrue) {
				n.Conditions = append(n.Conditions, kind)
			}
		}
	case deleting != nil:
		n.Phase = Gone
	}
	return n
}

// tellEvent tells an event of the recording; run is the state before it.
func (t *Teller) tellEvent(e *trace.Event, run *trace.State) {
	s := &t.state
	s.Run = run
	s.Elapsed = min(time.Since(t.began), s.since(e.Time)) // it may be told late
	if n := len(s.Beats); n > 0 {
		s.Elapsed = max(s.Elapsed, s.Beats[n-1].At)
	}
	if who, text := s.sentence(e); text != "" && t.first(e) {
		s.Tell(who, "%s", text)
		s.Beats[len(s.Beats)-1].Event = *e
	}
}

// drawEvent takes an event of the recording, whose state is the one after it.
func (t *Teller) drawEvent(e *trace.Event) {
	t.state.enterPass(e)
	t.notice()
}

// first reports whether an event is the first of its kind for its key. Others are told each
// time.
func (t *Teller) first(e *trace.Event) bool {
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

// HandlerOf returns a handler of the configmaps. Its name in a recording has a number behind a "#".
func (s *State) HandlerOf(name string) (found trace.HandlerState) {
	if i := s.Run.Informers["configmaps"]; i != nil {
		for key, h := range i.Handlers {
			if strings.HasPrefix(key, name) {
				found = *h
			}
		}
	}
	return found
}
