package stage

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"orrery/controller/gears"
	"orrery/deltafifo"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
	"orrery/restclient"
	"orrery/restclient/api"
)

// voice reports what happens in one informer: its reflector's lists and watches, and the way of one
// object through all gears. The first event of each kind is followed gear by gear.
type voice struct {
	teller *story.Teller
	// name is the informer's name, key the followed object's.
	name, key string

	// seen has the types of delta that were followed. Guarded by the teller's lock.
	seen map[deltafifo.DeltaType]bool
	// waiting has the types of the followed deltas that are in the FIFO. Guarded by the teller's lock.
	waiting map[deltafifo.DeltaType]bool
	// following reports whether the deltas that were popped last have a followed one: the next event
	// may be queued before they reach the handlers. Guarded by the teller's lock.
	following bool
	// event and version are the reflector's last event. Only the reflector's goroutine uses them.
	event, version string
}

func newVoice(teller *story.Teller, name, key string) *voice {
	return &voice{
		teller: teller, name: name, key: key,
		seen: map[deltafifo.DeltaType]bool{}, waiting: map[deltafifo.DeltaType]bool{},
	}
}

// reflector returns counting with the hooks that tell.
func (v *voice) reflector(counting *reflector.Trace) *reflector.Trace {
	trace := *counting
	trace.Listed = func(info reflector.ListInfo) {
		counting.Listed(info)
		how := "LIST"
		if info.Streamed {
			how = "a streaming list"
		}
		v.teller.Tell(story.Reflector, "%s: %s returns %s at resourceVersion %s; the watch starts there", v.name, how, objects(info.Items), info.ResourceVersion)
	}
	trace.Event = func(e reflector.EventInfo) {
		counting.Event(e)
		v.event, v.version = string(e.Type), e.ResourceVersion
	}
	trace.WatchEnded = func(info reflector.WatchInfo) {
		counting.WatchEnded(info)
		if info.Err == nil {
			return // it was stopped
		}
		v.teller.Tell(story.Reflector, "%s: the watch ended at resourceVersion %s: %s", v.name, info.ResourceVersion, reason(info.Err))
	}
	trace.BackOff = func(wait time.Duration, err error) {
		v.teller.Tell(story.Reflector, "%s: retries in %s (back-off with jitter): %s", v.name, short(wait), reason(err))
	}
	trace.Expired = func(version string, err error) {
		counting.Expired(version, err)
		v.teller.Tell(story.Reflector, "%s: 410 Expired: the server no longer has the events after resourceVersion %s; the reflector lists again", v.name, version)
	}
	return &trace
}

// reason returns the server's status or what happened to the connection.
func reason(err error) string {
	var status *api.StatusError
	switch {
	case errors.As(err, &status):
		return fmt.Sprintf("%d %s", status.Status.Code, status.Error())
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed"
	}
	return err.Error()
}

// voiceFIFO returns counting with the hooks that tell.
func voiceFIFO[T any](v *voice, counting *deltafifo.Trace[T]) *deltafifo.Trace[T] {
	trace := *counting
	trace.Queued = func(key string, d deltafifo.Delta[T], depth int) {
		counting.Queued(key, d, depth)
		if key == v.key {
			v.queued(d.Type, d.Tombstone != nil)
		}
	}
	trace.Popped = func(key string, d deltafifo.Deltas[T], initial bool, depth int) {
		counting.Popped(key, d, initial, depth)
		if key == v.key {
			v.popped(d.Types())
		}
	}
	trace.Replaced = func(version string, items, tombstones, depth int) {
		counting.Replaced(version, items, tombstones, depth)
		if tombstones > 0 {
			v.teller.Tell(story.FIFO, "%s: the list lacks %s of the store: each gets a tombstone (DeletedFinalStateUnknown) in the queue",
				v.name, objects(tombstones))
		}
	}
	return &trace
}

// queued reports that an event has reached the queue.
func (v *voice) queued(kind deltafifo.DeltaType, tombstone bool) {
	v.teller.Update(func(s *story.State) {
		first := !v.seen[kind]
		v.seen[kind] = true
		v.waiting[kind] = v.waiting[kind] || first
		switch {
		case kind == deltafifo.Replaced || tombstone:
			s.Tell(story.Reflector, "%s: the list contains %s", v.name, v.key)
		case first:
			s.Tell(story.Reflector, "%s: watch event %s %s, resourceVersion %s", v.name, v.event, v.key, v.version)
		}
		if first {
			s.Tell(story.FIFO, "%s: the delta %s is queued", v.key, kind)
		}
	})
}

func (v *voice) popped(types []deltafifo.DeltaType) {
	v.teller.Update(func(s *story.State) {
		v.following = false
		for _, kind := range types {
			v.following = v.following || v.waiting[kind]
			v.waiting[kind] = false
		}
		if v.following {
			names := make([]string, len(types))
			for i, kind := range types {
				names[i] = string(kind)
			}
			s.Tell(story.FIFO, "%s: popped with %s: %s", v.key, count(len(types), "delta", "deltas"), strings.Join(names, ", "))
		}
	})
}

// distributed reports that the store has changed and the handlers are next.
func (v *voice) distributed(s *story.State, kind informer.EventKind, key string, listeners int) {
	if key != v.key || !v.following {
		return
	}
	what := "has the new state of " + key
	if kind == informer.EventDelete {
		what = "has removed " + key
	}
	s.Tell(story.Indexer, "the store %s; %s notified", what, count(listeners, "handler is", "handlers are"))
}

func objects(n int) string { return count(n, "object", "objects") }

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// short formats d with two or three significant digits.
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	default:
		return d.Round(100 * time.Microsecond).String()
	}
}

// newInformer returns an informer with all its hooks and gates connected. v may be nil.
func newInformer[T informer.Object](resource *restclient.Resource[T], name string, c Config, m *meter, v *voice) *informer.SharedIndexInformer[T] {
	r := c.Recorder
	config := informer.Config[T]{Name: name, Gears: gears.Informer[T](c.Gears)}
	reflectorTrace, fifo := m.reflector(), fifoTrace[T](m)
	if v != nil {
		reflectorTrace, fifo = v.reflector(reflectorTrace), voiceFIFO(v, fifo)
	}
	config.Reflector = reflector.Config[T]{Trace: reflector.JoinTraces(reflectorTrace, r.Reflector(name))}
	config.QueueTrace = deltafifo.JoinTraces(fifo, trace.FIFO[T](r, name))
	config.StoreTrace = r.Store(name)
	config.Trace = informer.JoinTraces(r.Informer(name), &informer.Trace{
		Distributed: func(e informer.EventInfo, listeners int) {
			m.teller.Update(func(s *story.State) {
				m.distributed(s, e.Kind)
				if v != nil {
					v.distributed(s, e.Kind, e.Key, listeners)
				}
			})
		},
		Handled: func(informer.HandlerInfo, informer.EventInfo, time.Duration) {
			m.teller.Update(func(s *story.State) { s.Gears.Calls++ })
		},
	})
	source, config := gate.Informer(c.Gates, informer.ListerWatcher[T](resource), config)
	return informer.NewSharedIndexInformer(source, config)
}

// viewer is a second handler on the controller's informer that keeps the display's state of the
// namespace.
type viewer struct{ teller *story.Teller }

// OnAdd implements informer.ResourceEventHandler.
func (v viewer) OnAdd(namespace *api.Namespace, _ bool) { v.show(namespace) }

// OnUpdate implements informer.ResourceEventHandler.
func (v viewer) OnUpdate(_, namespace *api.Namespace) { v.show(namespace) }

// OnDelete implements informer.ResourceEventHandler.
func (v viewer) OnDelete(deleted informer.DeletedObject[*api.Namespace]) {
	if deleted.Key != Namespace {
		return
	}
	v.teller.Update(func(s *story.State) {
		s.Namespace = story.Namespace{Name: Namespace, Phase: story.Gone}
	})
}

func (v viewer) show(namespace *api.Namespace) {
	if namespace.Name != Namespace {
		return
	}
	v.teller.Update(func(s *story.State) {
		s.Namespace = story.Namespace{Name: Namespace, Phase: string(namespace.Status.Phase)}
		for _, finalizer := range namespace.Spec.Finalizers {
			s.Namespace.Finalizers = append(s.Namespace.Finalizers, string(finalizer))
		}
		for _, c := range namespace.Status.Conditions {
			if c.Status == api.ConditionTrue {
				s.Namespace.Conditions = append(s.Namespace.Conditions, story.Condition{
					Type: strings.TrimSpace(string(c.Type)), Message: c.Message})
			}
		}
	})
}
