package stage

import (
	"context"
	"fmt"
	"time"

	"orrery/deltafifo"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/lab/demo/story"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// spectator is an informer that draws a bar.
type spectator = informer.SharedIndexInformer[*api.PartialObjectMetadata]

// newSpectators returns a metadata-only informer for each type of the content. The reflectors of
// the reported types show their lists and watches.
func newSpectators(config Config, client *restclient.Client, factory *informer.SharedInformerFactory, reported map[string]bool) (map[string]*spectator, error) {
	teller := config.Teller
	spectators := map[string]*spectator{}
	for _, k := range content {
		name := k.resource.Resource
		var v *voice
		if reported[name] {
			v = newVoice(teller, name, "")
		}
		m := &meter{teller: teller, objectsChanged: func(s *story.State, objects int) {
			s.Count(name, objects)
			if name == "pods" && objects == 0 {
				s.Tell(story.Server, "the kubelet reports that the last pod has ended")
			}
		}}
		made := newInformer(restclient.Metadata(client, k.resource, Namespace), name, config, m, v)
		if _, err := made.AddEventHandlerWithOptions(informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{},
			informer.HandlerOptions{Name: "spectator"}); err != nil {
			return nil, err
		}
		spectators[name] = informer.InformerFor(factory, name, func(time.Duration) *spectator { return made })
	}
	return spectators, nil
}

// AddSlowHandler adds a handler that takes this time for each event to the informer of one type,
// beside the spectator's, and shows in bars how many events wait for each of the two. It ends with
// the stage.
func (s *Stage) AddSlowHandler(name string, took time.Duration) error {
	watched := s.spectators[name]
	if watched == nil {
		return fmt.Errorf("there is no informer of %s", name)
	}
	pause := func() { _ = wait.Sleep(s.slowCtx, took) }
	slow := informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{
		AddFunc:    func(*api.PartialObjectMetadata, bool) { pause() },
		UpdateFunc: func(_, _ *api.PartialObjectMetadata) { pause() },
		DeleteFunc: func(informer.DeletedObject[*api.PartialObjectMetadata]) { pause() },
	}
	if _, err := watched.AddEventHandlerWithOptions(slow, informer.HandlerOptions{Name: SlowHandler}); err != nil {
		return err
	}
	s.running.Go(func() { s.showPending(s.slowCtx, watched) })
	return nil
}

// The names of the slow handler and of the one beside it.
const (
	SlowHandler  = "slow handler"
	QuickHandler = "spectator"
)

// showPending shows the number of pending notifications of each handler until ctx ends.
func (s *Stage) showPending(ctx context.Context, watched *spectator) {
	const often = 100 * time.Millisecond
	for wait.Sleep(ctx, often) == nil {
		snapshot := watched.Snapshot()
		s.config.Teller.Update(func(state *story.State) {
			for _, handler := range snapshot.Handlers {
				state.Line(handler.Handler+" waits", handler.Pending)
			}
		})
	}
}

// Pending returns the number of notifications that wait for a handler of a type's informer.
func (s *Stage) Pending(name, handler string) int {
	for _, h := range s.spectators[name].Snapshot().Handlers {
		if h.Handler == handler {
			return h.Pending
		}
	}
	return 0
}

// LabelAll changes every object of a type.
func (s *Stage) LabelAll(ctx context.Context, name, label string) error {
	for i, k := range content {
		if k.resource.Resource != name {
			continue
		}
		s.Tell(story.You, "kubectl -n %s label %s --all %s=yes", Namespace, name, label)
		for number := range s.numbers[i] {
			patch := []byte(`{"metadata":{"labels":{"` + label + `":"yes"}}}`)
			if _, err := s.objectsOf(k.resource, Namespace).Patch(ctx, k.name(number), api.MergePatchType, patch, api.UpdateOptions{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// DeleteSome deletes the first n objects of a type.
func (s *Stage) DeleteSome(ctx context.Context, name string, n int) (deleted int, err error) {
	for i, k := range content {
		if k.resource.Resource != name {
			continue
		}
		for number := range min(n, s.numbers[i]) {
			if err := s.objectsOf(k.resource, Namespace).Delete(ctx, k.name(number), api.DeleteOptions{}); err != nil {
				return deleted, err
			}
			deleted++
		}
	}
	s.Tell(story.You, "kubectl -n %s delete %s: %s", Namespace, name, objects(deleted))
	return deleted, nil
}

// meter adds the counters of one informer to the sums. The teller's lock guards it.
type meter struct {
	teller  *story.Teller
	depth   int // of its DeltaFIFO
	objects int // in its store
	// objectsChanged, if not nil, is called with the number of objects.
	objectsChanged func(s *story.State, objects int)
}

// reflector returns hooks that count.
func (m *meter) reflector() *reflector.Trace {
	return &reflector.Trace{
		Listed: func(reflector.ListInfo) { m.teller.Update(func(s *story.State) { s.Gears.Lists++ }) },
		Event:  func(reflector.EventInfo) { m.teller.Update(func(s *story.State) { s.Gears.Events++ }) },
		WatchStarted: func(api.ListOptions) {
			m.teller.Update(func(s *story.State) { s.Gears.Watches++ })
		},
		WatchEnded: func(reflector.WatchInfo) {
			m.teller.Update(func(s *story.State) { s.Gears.WatchesEnded++ })
		},
		Expired: func(string, error) { m.teller.Update(func(s *story.State) { s.Gears.Expired++ }) },
	}
}

// depthIs sets the number of keys in the FIFO. It adds the difference, since all informers share
// the sum.
func (m *meter) depthIs(s *story.State, depth int) {
	s.Gears.Depth += depth - m.depth
	m.depth = depth
	s.Gears.MostDepth = max(s.Gears.MostDepth, depth)
}

// distributed counts the objects of the store: an event is distributed after the store has changed.
func (m *meter) distributed(s *story.State, kind informer.EventKind) {
	change := 0
	switch kind {
	case informer.EventAdd:
		change = 1
	case informer.EventDelete:
		change = -1
	}
	m.objects += change
	s.Gears.Objects += change
	if m.objectsChanged != nil {
		m.objectsChanged(s, m.objects)
	}
}

func fifoTrace[T any](m *meter) *deltafifo.Trace[T] {
	return &deltafifo.Trace[T]{
		Queued: func(_ string, d deltafifo.Delta[T], depth int) {
			m.teller.Update(func(s *story.State) {
				s.Gears.Deltas++
				m.depthIs(s, depth)
			})
		},
		Replaced: func(_ string, _, tombstones, depth int) {
			m.teller.Update(func(s *story.State) {
				s.Gears.Tombstones += tombstones
				m.depthIs(s, depth)
			})
		},
		Popped: func(_ string, d deltafifo.Deltas[T], _ bool, depth int) {
			m.teller.Update(func(s *story.State) {
				s.Gears.Pops++
				s.Gears.MostDeltas = max(s.Gears.MostDeltas, len(d))
				m.depthIs(s, depth)
			})
		},
	}
}
