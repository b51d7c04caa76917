package demo

import (
	"context"
	"time"

	"orrery/controller/gears"
	"orrery/informer"
	"orrery/informer/reflector"
	"orrery/internal/lab/demo/gate"
	"orrery/internal/lab/demo/story"
	"orrery/internal/observe/trace"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// newInformer returns a recorded informer with gates.
func newInformer[T informer.Object](
	s *Stage, resource *restclient.Resource[T], name string,
) *informer.SharedIndexInformer[T] {
	r := s.Recorder
	config := gate.HoldInformer(s.Gates, informer.Config[T]{
		Name: name, Gears: gears.Informer[T](s.Gears),
		Reflector:  reflector.Config[T]{Trace: r.Reflector(name)},
		QueueTrace: trace.FIFO[T](r, name), StoreTrace: r.Store(name), Trace: r.Informer(name),
	})
	return informer.NewSharedIndexInformer(informer.ListerWatcher[T](resource), config)
}

// metadataInformer is an informer that knows the metadata of its objects.
type metadataInformer = informer.SharedIndexInformer[*api.PartialObjectMetadata]

// idle is a handler that does nothing.
var idle = informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{}

// slowness is the slow handler's time per event.
const slowness = 100 * time.Millisecond

// addSlowHandler adds a slow handler to the informer of the configmaps, beside the spectator's.
// Bars show how many events wait for each of the two. It ends with the stage.
func addSlowHandler(on *Stage, _ context.Context) error {
	on.Teller.Update(func(state *story.State) { state.Backlog = "configmaps" })
	pause := func() { _ = wait.Sleep(on.working, slowness) }
	slow := informer.ResourceEventHandlerFuncs[*api.PartialObjectMetadata]{
		AddFunc:    func(*api.PartialObjectMetadata, bool) { pause() },
		UpdateFunc: func(_, _ *api.PartialObjectMetadata) { pause() },
		DeleteFunc: func(informer.DeletedObject[*api.PartialObjectMetadata]) { pause() },
	}
	_, err := on.configMaps.AddEventHandlerWithOptions(slow, informer.HandlerOptions{Name: SlowHandler})
	return err
}

// The names of the slow handler and of the one beside it.
const (
	SlowHandler  = "slow handler"
	QuickHandler = "spectator"
)
