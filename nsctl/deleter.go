package nsctl

import (
	"context"
	"fmt"
	"slices"
	"time"

	"orrery/restclient/api"
	"orrery/wait"
)

// Deleter empties namespaces that are being deleted and lets them go. It keeps nothing of them when no pass is under way;
// any number of goroutines may use it, each for another namespace.
type Deleter struct {
	namespaces  NamespaceClient
	content     ContentClient
	discovery   Discovery
	types       *freshTypes
	token       string
	concurrency int
	dryRun      bool
	trace       *Trace
	surveyor    *surveyor
	conflicts   func() wait.Backoff // conflictBackoff
}

// DeleterConfig is what a deleter needs. The first three fields are required.
type DeleterConfig struct {
	Namespaces NamespaceClient
	Content    ContentClient
	Discovery  Discovery

	// FinalizerToken is the token in spec.finalizers that this deleter removes when the namespace is empty.
	// Default "kubernetes". Tokens of others are never touched.
	FinalizerToken string
	// Concurrency is how many resource types of one namespace are emptied at a time. Default 32: all that a
	// kube-apiserver has by itself.
	Concurrency int
	// DryRun makes the deleter look and decide and write nothing.
	DryRun bool
	// Trace is told what happens. Default: nobody.
	Trace *Trace
}

const defaultTypeConcurrency = 32

// NewDeleter returns a deleter.
func NewDeleter(config DeleterConfig) *Deleter {
	d := &Deleter{
		namespaces:  config.Namespaces,
		content:     config.Content,
		discovery:   config.Discovery,
		types:       &freshTypes{discovery: config.Discovery},
		token:       config.FinalizerToken,
		concurrency: config.Concurrency,
		dryRun:      config.DryRun,
		trace:       config.Trace,
		conflicts:   conflictBackoff,
	}
	if d.token == "" {
		d.token = api.FinalizerKubernetes
	}
	if d.concurrency <= 0 {
		d.concurrency = defaultTypeConcurrency
	}
	d.surveyor = newSurveyor(d.content, d.concurrency, d.trace)
	return d
}

// Delete makes one pass over a namespace: it empties it and, when nothing is left, removes this controller's
// token so that the server can remove the object. A namespace that does not exist or is not being deleted is
// left alone. Nothing can be created in it any more: whoever calls this has waited until all API servers know of the
// deletion.
//
// nil means that there is nothing more to do. *[ResourcesRemainingError] means that the pass went well and
// another one is needed later; any other error, that the pass failed.
func (d *Deleter) Delete(ctx context.Context, name string) error {
	return d.deleteSeen(ctx, sighting{name: name})
}

// deleteSeen is Delete for a namespace that was seen to be in deletion.
func (d *Deleter) deleteSeen(ctx context.Context, seen sighting) error {
	d.surveyor.enter()
	defer d.surveyor.leave()
	ahead := d.discoverAhead(ctx, seen)
	defer ahead.end()
	endReading := d.trace.phase(seen.name, PhaseReading)
	namespace, err := d.namespaces.Get(ctx, seen.name, api.GetOptions{})
	endReading()
	if api.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return inDoing("reading the namespace", err)
	}
	if namespace.DeletionTimestamp == nil {
		return nil
	}
	p := &pass{Deleter: d, namespace: namespace, settled: time.Now()}
	switch {
	case seen.isOf(namespace):
		p.ahead, p.settled = ahead, seen.settled
	case seen.uid == namespace.UID: // its deletion has another time now: the types have to be asked for again
		p.settled = seen.settled
	case seen.uid != "":
		return nil // a new one of that name, whose grace period begins when it is seen
	}
	if d.dryRun {
		return p.rehearse(ctx)
	}
	if p.namespace, err = d.markTerminating(ctx, namespace); err != nil {
		return ignoreNotFound(inDoing("setting the phase", err))
	}
	if finalized(p.namespace) {
		return d.removeFinalized(ctx, p.namespace)
	}
	return p.run(ctx)
}

// markTerminating sets the phase. Today's API servers set it with the deletion timestamp; older ones left it to
// the controller.
func (d *Deleter) markTerminating(ctx context.Context, namespace *api.Namespace) (*api.Namespace, error) {
	if namespace.Status.Phase == api.NamespaceTerminating {
		return namespace, nil
	}
	defer d.trace.phase(namespace.Name, PhaseReport)()
	return d.retryOnConflict(ctx, namespace, func(ctx context.Context, latest *api.Namespace) (*api.Namespace, error) {
		if latest.Status.Phase == api.NamespaceTerminating {
			return latest, nil
		}
		terminating := *latest
		terminating.Status.Phase = api.NamespaceTerminating
		return d.namespaces.UpdateStatus(ctx, &terminating, api.UpdateOptions{})
	})
}

// finalized tells whether nobody holds the namespace through spec.finalizers any more.
func finalized(namespace *api.Namespace) bool { return len(namespace.Spec.Finalizers) == 0 }

// removeFinalized ends a namespace that has a deletion timestamp and no finalizer of any kind. Today's API
// servers remove it with its last finalizer; older ones want to be told once more. The UID keeps a namespace
// that was re-created in the meantime from being hit.
func (d *Deleter) removeFinalized(ctx context.Context, namespace *api.Namespace) error {
	if len(namespace.Finalizers) > 0 {
		return nil
	}
	defer d.trace.phase(namespace.Name, PhaseFinalization)()
	err := d.namespaces.Delete(ctx, namespace.Name, api.DeleteOptions{
		Preconditions: &api.Preconditions{UID: &namespace.UID},
	})
	if api.IsConflict(err) {
		return nil
	}
	return ignoreNotFound(inDoing("deleting the finalized namespace", err))
}

// finalize removes this controller's token through the finalize subresource, and nobody else's. It returns the
// namespace as it is afterwards, also when it went with that.
func (d *Deleter) finalize(ctx context.Context, namespace *api.Namespace) (*api.Namespace, error) {
	defer d.trace.phase(namespace.Name, PhaseFinalization)()
	updated, err := d.retryOnConflict(ctx, namespace, func(ctx context.Context, latest *api.Namespace) (*api.Namespace, error) {
		if !slices.Contains(latest.Spec.Finalizers, d.token) {
			return latest, nil
		}
		return d.namespaces.UpdateSubresource(ctx, latest.Name, "finalize", withoutToken(latest, d.token), api.UpdateOptions{})
	})
	d.trace.finalized(namespace.Name, err)
	return updated, err
}

// withoutToken returns a copy of the namespace without the token in spec.finalizers; the other tokens are sorted
// and stand there once.
func withoutToken(namespace *api.Namespace, token string) *api.Namespace {
	var others []string
	for _, finalizer := range namespace.Spec.Finalizers {
		if finalizer != token {
			others = append(others, finalizer)
		}
	}
	slices.Sort(others)
	changed := *namespace
	changed.Spec.Finalizers = slices.Compact(others)
	return &changed
}

// updateConditions writes what the pass has found into the status, if that says anything new. A failure is
// traced and does not stop the deletion: the conditions are for people, the content is what counts.
func (d *Deleter) updateConditions(ctx context.Context, namespace *api.Namespace, found *findings) *api.Namespace {
	defer d.trace.phase(namespace.Name, PhaseReport)()
	written := false
	updated, err := d.retryOnConflict(ctx, namespace, func(ctx context.Context, latest *api.Namespace) (*api.Namespace, error) {
		conditions, changed := applyConditions(latest.Status.Conditions, found, time.Now())
		if written = changed; !changed {
			return latest, nil
		}
		reported := *latest
		reported.Status.Conditions = conditions
		return d.namespaces.UpdateStatus(ctx, &reported, api.UpdateOptions{})
	})
	if err != nil {
		d.trace.conditionsFailed(namespace.Name, err)
		return namespace
	}
	if written {
		d.trace.conditionsUpdated(namespace.Name, updated.Status.Conditions)
	}
	return updated
}

// inDoing says in an error what the request was for: the server's words do not always tell.
func inDoing(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func ignoreNotFound(err error) error {
	if api.IsNotFound(err) {
		return nil
	}
	return err
}
