package stage

import (
	"time"

	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/gears"
	"orrery/internal/lab/demo/story"
	"orrery/restclient"
)

// newInformer returns an informer with all its hooks connected. v may be nil.
func newInformer[T informer.Object](resource *restclient.Resource[T], name string, set gears.Set, m *meter, v *voice) *informer.SharedIndexInformer[T] {
	config := informer.Config[T]{Name: name, Gears: gears.Informer[T](set)}
	reflectorTrace, fifo := m.reflector(), fifoTrace[T](m)
	if v != nil {
		reflectorTrace, fifo = v.reflector(reflectorTrace), voiceFIFO(v, fifo)
	}
	config.Reflector = reflector.Config[T]{Trace: reflectorTrace}
	config.QueueTrace = fifo
	config.Trace = &informer.Trace{
		Distributed: func(kind informer.EventKind, key string, listeners int) {
			m.teller.Update(func(s *story.State) {
				m.distributed(s, kind)
				if v != nil {
					v.distributed(s, kind, key, listeners)
				}
			})
		},
		Handled: func(informer.HandlerInfo, informer.EventKind, string, time.Duration) {
			m.teller.Update(func(s *story.State) { s.Gears.Calls++ })
		},
	}
	return informer.NewSharedIndexInformer(resource, gears.Record(set, config))
}
