package stage

import (
	"orrery/deltafifo"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/lab/demo/story"
	"orrery/restclient/api"
)

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
