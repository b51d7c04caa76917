package stage

import (
	"time"

	"orrery/deltafifo"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/gears"
	"orrery/internal/lab/demo/story"
	"orrery/internal/lab/view"
	"orrery/internal/observe/trace"
	"orrery/restclient"
)

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
	source, config := view.Informer(c.Gates, informer.ListerWatcher[T](resource), config)
	return informer.NewSharedIndexInformer(source, config)
}
