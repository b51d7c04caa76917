package nsctl

import (
	"context"
	"fmt"
	"time"

	"orrery/restclient/api"
	"orrery/wait"
)

// UIDChangedError says that the namespace was re-created under its old name while it was being written to.
// The new one is somebody else's: nothing must be done to it on the old one's account.
type UIDChangedError struct {
	Namespace string
	OldUID    string
	NewUID    string
}

func (e *UIDChangedError) Error() string {
	return fmt.Sprintf("namespace %s was re-created while it was being deleted (uid %s became %s)", e.Namespace, e.OldUID, e.NewUID)
}

// conflictBackoff bounds how long a conflicting write is repeated. The original repeats at once and without end,
// which turns two writers that disagree into a busy loop against the API server.
func conflictBackoff() wait.Backoff {
	return wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 6, Cap: time.Second}
}

// retryOnConflict writes a namespace and, when somebody else was faster, reads it again and repeats. write gets
// the state to start from and must not change it. The last conflict is returned when the tries are used up; the
// caller's own retry takes over then.
func (d *Deleter) retryOnConflict(ctx context.Context, namespace *api.Namespace, write func(context.Context, *api.Namespace) (*api.Namespace, error)) (*api.Namespace, error) {
	backoff := d.conflicts()
	latest := namespace
	for {
		updated, err := write(ctx, latest)
		if err == nil {
			return updated, nil
		}
		if !api.IsConflict(err) || backoff.Steps <= 0 {
			return nil, err
		}
		d.trace.conflict(latest.Name, err)
		if wait.Sleep(ctx, backoff.Step()) != nil {
			return nil, context.Cause(ctx)
		}
		latest, err = d.namespaces.Get(ctx, namespace.Name, api.GetOptions{})
		if err != nil {
			return nil, err
		}
		if latest.UID != namespace.UID {
			return nil, &UIDChangedError{Namespace: namespace.Name, OldUID: namespace.UID, NewUID: latest.UID}
		}
	}
}
