package stage

import (
	"context"
	"fmt"
	"time"

	"orrery/informer"
	"orrery/internal/lab/demo/story"
	"orrery/restclient/api"
	"orrery/wait"
)

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
