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

// buildsLine is the bar of what the second party has in its storage.
const buildsLine = "builds outside"

// StartSecondParty starts a second controller, and has the namespace created with its token. It ends with the stage.
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
		Name: "origin", Informer: s.namespaces, Deleter: s.config.Gears.NewDeleter(config), DrainTimeout: time.Second,
		NewQueue:    s.config.Gears.NewQueue,
		RateLimiter: queue.NewItemExponentialFailureRateLimiter[string](time.Second, 2*time.Second),
		Trace:       config.Trace,
	})
	if err != nil {
		return err
	}
	s.tokens = []string{secondparty.Token}
	s.running.Go(func() { controller.Run(s.slowCtx) })
	s.Tell(story.Operator, "a second party runs: the same controller with the token %s, its own types and its own storage", secondparty.Token)
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

// errLocked is what the storage says while it is locked.
var errLocked = errors.New("the storage is locked by a backup")

// lockable is a storage from which nothing can be deleted while it is locked.
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

// secondPartyTrace tells what the second party does; equal failures are told once.
func (s *Stage) secondPartyTrace() *nsctl.Trace {
	var failed atomic.Bool
	return &nsctl.Trace{
		Enqueued: func(namespace *api.Namespace, _ time.Duration) {
			if len(namespace.Status.Conditions) == 0 {
				s.Tell(story.Operator, "the second party sees the deletionTimestamp of %s as well", namespace.Name)
			}
		},
		TypeDeleted: func(_ string, gvr api.GroupVersionResource, remaining int, err error) {
			if gvr == secondparty.Builds && err == nil {
				s.config.Teller.Update(func(state *story.State) { state.Line(buildsLine, remaining) })
				s.Tell(story.Operator, "%s: none is left in the second party's storage", gvr.GroupResource())
			}
		},
		Finalized: func(_ string, err error) {
			if err == nil {
				s.Tell(story.Operator, "the second party takes %q out of spec.finalizers through /finalize; [] is left", secondparty.Token)
			}
		},
		PassDone: func(_ string, _ time.Duration, _ int, err error) {
			if err != nil && !failed.Swap(true) {
				s.Tell(story.Operator, "the second party cannot delete its content, and tries again and again: %v", err)
			}
		},
	}
}

// builds is how many objects the second party has.
const builds = 6

// FillSecondParty gives the second party content for the namespace.
func (s *Stage) FillSecondParty(ctx context.Context) error {
	for i := range builds {
		err := secondparty.Create(ctx, s.objectsOfSecondParty(), s.party.storage, secondparty.Builds, Namespace, fmt.Sprintf("build-%d", i))
		if err != nil {
			return err
		}
	}
	s.config.Teller.Update(func(state *story.State) {
		state.Line(buildsLine, builds)
		state.Tell(story.Operator, "the second party stores %d builds of %s where the API server knows nothing of them", builds, Namespace)
	})
	return nil
}

// LockSecondParty makes the second party unable to delete its content, and UnlockSecondParty ends that.
func (s *Stage) LockSecondParty() { s.party.locked.Store(true) }

// UnlockSecondParty ends what LockSecondParty did.
func (s *Stage) UnlockSecondParty() {
	s.Tell(story.Operator, "the backup has ended: the second party's storage can be written to again")
	s.party.locked.Store(false)
}
