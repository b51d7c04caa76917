package trace

import "maps"

// complete makes a state that was read from a file one that events can be applied to: no map is
// nil, and none has a nil entry.
func (s *State) complete() {
	fill(&s.Events)
	fill(&s.Lost)
	fill(&s.Lab.Held)
	fill(&s.Requests.Running)
	fill(&s.Requests.Watches)
	dropNil(&s.Requests.Running)
	dropNil(&s.Requests.Watches)
	dropNil(&s.Informers)
	dropNil(&s.Queues)
	dropNil(&s.Namespaces)
	for _, i := range s.Informers {
		fill(&i.Store.Objects)
		dropNil(&i.Handlers)
		if i.FIFO.Slots == nil {
			i.FIFO.Slots = []SlotState{}
		}
	}
	for _, q := range s.Queues {
		dropNil(&q.Processing)
		fill(&q.Delayed)
		fill(&q.Failures)
		if q.Queue == nil {
			q.Queue = []string{}
		}
		if q.Slots == nil {
			q.Slots = []string{}
		}
	}
	for _, n := range s.Namespaces {
		fill(&n.Phases)
		fill(&n.Remaining)
		fill(&n.Conditions)
	}
	if s.Requests.Recent == nil {
		s.Requests.Recent = []RequestState{}
	}
}

func fill[V any](m *map[string]V) {
	if *m == nil {
		*m = map[string]V{}
	}
}

func dropNil[V any](m *map[string]*V) {
	fill(m)
	maps.DeleteFunc(*m, func(_ string, v *V) bool { return v == nil })
}
