package nsctl

import (
	"context"
	"time"

	"orrery/restclient/api"
)

// sighting is what a pass knows of a namespace before it reads it. Only the name is always there.
type sighting struct {
	name string
	// uid and deletedAt are those of the namespace that was seen to be in deletion.
	uid       string
	deletedAt time.Time
	// settled is the moment of our own clock from which on nothing can be created in that namespace: the grace period,
	// in which API servers learn of the deletion, is over.
	settled time.Time
}

// isOf tells whether the namespace that was read is the one that was seen, in the same deletion.
func (s sighting) isOf(namespace *api.Namespace) bool {
	return s.uid == namespace.UID && s.deletedAt.Equal(namespace.DeletionTimestamp.Time)
}

// ahead is a discovery that is under way while the namespace is still being read: neither needs the other, and the
// server may be far away.
type ahead struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when the rest is set
	lists  []*api.APIResourceList
	err    error
}

// discoverAhead asks for the types if the deletion's time is known: the answer must not be older than that. It
// returns nil otherwise. Whoever gets an answer calls end.
func (d *Deleter) discoverAhead(ctx context.Context, seen sighting) *ahead {
	if seen.deletedAt.IsZero() {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	a := &ahead{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		var panicked *PanicError
		defer func() {
			if panicked != nil {
				a.err = panicked
			}
		}()
		defer catch(&panicked)
		a.lists, a.err = d.types.of(ctx, seen.deletedAt, seen.settled)
	}()
	return a
}

// answer waits for what was found.
func (a *ahead) answer() ([]*api.APIResourceList, error) {
	if a == nil {
		return nil, nil
	}
	<-a.done
	return a.lists, a.err
}

// end returns when nothing is under way any more; what still was is given up.
func (a *ahead) end() {
	if a == nil {
		return
	}
	a.cancel()
	<-a.done
}
