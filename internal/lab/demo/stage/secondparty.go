package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"orrery/examples/secondparty"
	"orrery/internal/lab/demo/story"
	"orrery/nsctl"
	"orrery/queue"
	"orrery/restclient"
	"orrery/restclient/api"
)

// secondParty is the second namespace controller of a scene, with its storage.
type secondParty struct {
	storage *secondparty.Storage
	locked  atomic.Bool
	remove  func() // nil: there is no storage
}

// buildsLine is the name of the bar that counts the second controller's objects.
const buildsLine = "builds outside"

// StartSecondParty starts a second controller; the namespace will be created with its token. It
// ends with the stage.
func (s *Stage) StartSecondParty() error {
	directory, err := os.MkdirTemp("", "second-party-*")
	if err != nil {
		return err
	}
	s.party.remove = func() { os.RemoveAll(directory) }
	if s.party.storage, err = secondparty.OpenStorage(directory); err != nil {
		return err
	}
	config := secondparty.DeleterConfig(s.objectsOfSecondParty(), s.party.storage)
	config.Content = lockable{s.party.storage, &s.party.locked}
	config.Trace = s.secondPartyTrace()
	controller, err := nsctl.NewController(nsctl.Config{
		Name: "origin", Informer: s.namespaces, Deleter: s.newDeleter(config), DrainTimeout: time.Second,
		NewQueue:    s.config.NewQueue,
		PassTimeout: s.config.passTimeout(),
		RateLimiter: queue.NewItemExponentialFailureRateLimiter[string](time.Second, 2*time.Second),
		Trace:       config.Trace,
	})
	if err != nil {
		return err
	}
	s.tokens = []string{secondparty.Token}
	s.running.Go(func() { controller.Run(s.slowCtx) })
	s.Tell(story.Operator, "a second namespace controller starts, with the token %s, its own types and its own storage", secondparty.Token)
	return nil
}

func (s *Stage) objectsOfSecondParty() *restclient.Resource[*api.Namespace] {
	return restclient.Typed[*api.Namespace](s.clients[story.Controller], api.NamespacesResource, "")
}

// close removes the storage.
func (p *secondParty) close() {
	if p.storage != nil {
		p.storage.Close()
	}
	if p.remove != nil {
		p.remove()
	}
}

// errLocked is the storage's error while it is locked.
var errLocked = errors.New("the storage is locked by a backup")

// lockable refuses deletions while it is locked.
type lockable struct {
	*secondparty.Storage
	locked *atomic.Bool
}

// DeleteCollection implements nsctl.ContentClient.
func (l lockable) DeleteCollection(ctx context.Context, gvr api.GroupVersionResource, namespace string) ([]*api.PartialObjectMetadata, bool, error) {
	if l.locked.Load() {
		return nil, false, errLocked
	}
	return l.Storage.DeleteCollection(ctx, gvr, namespace)
}

// secondPartyTrace reports what the second controller does; only its first failure.
func (s *Stage) secondPartyTrace() *nsctl.Trace {
	var failed atomic.Bool
	return &nsctl.Trace{
		Enqueued: func(namespace *api.Namespace, _ time.Duration) {
			if len(namespace.Status.Conditions) == 0 {
				s.Tell(story.Operator, "the second controller also sees the deletionTimestamp of %s", namespace.Name)
			}
		},
		TypeDeleted: func(_ string, gvr api.GroupVersionResource, remaining int, err error) {
			if gvr == secondparty.Builds && err == nil {
				s.config.Teller.Update(func(state *story.State) { state.Line(buildsLine, remaining) })
				s.Tell(story.Operator, "%s: none is left in the second controller's storage", gvr.GroupResource())
			}
		},
		Finalized: func(_ string, err error) {
			if err == nil {
				s.Tell(story.Operator, "the second controller removes %q from spec.finalizers through /finalize; [] is left", secondparty.Token)
			}
		},
		PassDone: func(_ string, _ time.Duration, _ int, err error) {
			if err != nil && !failed.Swap(true) {
				s.Tell(story.Operator, "the second controller cannot delete its content, and retries: %v", err)
			}
		},
	}
}

// builds is the number of the second controller's objects.
const builds = 6

// FillSecondParty creates the second controller's content of the namespace.
func (s *Stage) FillSecondParty(ctx context.Context) error {
	if s.party.storage == nil {
		return errors.New("there is no second controller yet")
	}
	for i := range builds {
		err := secondparty.Create(ctx, s.objectsOfSecondParty(), s.party.storage, secondparty.Builds, Namespace, fmt.Sprintf("build-%d", i))
		if err != nil {
			return err
		}
	}
	s.config.Teller.Update(func(state *story.State) {
		state.Line(buildsLine, builds)
		state.Tell(story.Operator, "the second controller stores %d builds of %s outside the API server", builds, Namespace)
	})
	return nil
}

// LockSecondParty makes the second controller unable to delete its content until UnlockSecondParty.
func (s *Stage) LockSecondParty() {
	s.party.locked.Store(true)
}

// UnlockSecondParty undoes LockSecondParty.
func (s *Stage) UnlockSecondParty() {
	s.Tell(story.Operator, "the backup has ended: the second controller's storage is unlocked")
	s.party.locked.Store(false)
}
