package fast

import (
	"context"
	"slices"
	"time"

	"orrery/nsctl"
	"orrery/nsctl/internal/shared"
	"orrery/restclient/api"
	"orrery/wait"
)

// deleter implements nsctl.Deleter. It keeps nothing of a namespace between passes.
type deleter struct {
	nsctl.DeleterConfig
	types     *freshTypes
	emptiness *emptinessChecker
}

// NewDeleter returns the deleter that asks a third as often, or that of a dry run.
func NewDeleter(config nsctl.DeleterConfig) nsctl.Deleter {
	config = config.WithDefaults()
	if config.DryRun {
		return nsctl.NewDryRun(config)
	}
	return &deleter{
		DeleterConfig: config,
		types:         &freshTypes{discovery: config.Discovery},
		emptiness:     &emptinessChecker{content: config.Content, concurrency: config.Concurrency, trace: config.Trace},
	}
}

// Delete makes one pass over a namespace, see [nsctl.Deleter].
func (d *deleter) Delete(ctx context.Context, nsName string, seen nsctl.ObservedDeletion) error {
	d.emptiness.enter()
	defer d.emptiness.leave()
	endReading := d.Trace.Phase(nsName, nsctl.PhaseReading)
	namespace, err := d.Namespaces.Get(ctx, nsName, api.GetOptions{})
	endReading()
	if err != nil {
		return shared.IgnoreNotFound(shared.WhileDoing("reading the namespace", err))
	}
	if namespace.DeletionTimestamp == nil || seen.IsOfAnother(namespace) {
		return nil
	}
	p := &pass{deleter: d, namespace: namespace, settled: time.Now()}
	if !seen.Settled.IsZero() {
		p.settled = seen.Settled
	}
	if p.namespace, err = d.markTerminating(ctx, namespace); err != nil {
		return shared.IgnoreNotFound(shared.WhileDoing("setting the phase", err))
	}
	if !d.hasToken(p.namespace) {
		d.Trace.NoToken(nsName, p.namespace.Spec.Finalizers)
		return nil
	}
	return p.run(ctx, seen)
}

// hasToken reports whether the namespace still waits for this controller. Without the token its
// content is not this controller's business.
func (d *deleter) hasToken(namespace *api.Namespace) bool {
	return slices.Contains(namespace.Spec.Finalizers, d.FinalizerToken)
}

// markTerminating sets the phase. Today's API servers set it with the deletion timestamp; older
// ones left it to the controller.
func (d *deleter) markTerminating(ctx context.Context, namespace *api.Namespace) (*api.Namespace, error) {
	if namespace.Status.Phase == api.NamespaceTerminating || !d.FirstParty() {
		return namespace, nil
	}
	defer d.Trace.Phase(namespace.Name, nsctl.PhaseReport)()
	return d.retryOnConflict(ctx, namespace, func(ctx context.Context, latest *api.Namespace) (*api.Namespace, error) {
		if latest.Status.Phase == api.NamespaceTerminating || !d.hasToken(latest) {
			return latest, nil
		}
		terminating := *latest
		terminating.Status.Phase = api.NamespaceTerminating
		return d.Namespaces.UpdateStatus(ctx, &terminating, api.UpdateOptions{})
	})
}

// finalize removes this controller's token through the finalize subresource, and no other. It
// returns the namespace as it is afterwards, also if it went with the token.
func (d *deleter) finalize(ctx context.Context, namespace *api.Namespace) (*api.Namespace, error) {
	defer d.Trace.Phase(namespace.Name, nsctl.PhaseFinalization)()
	updated, err := d.retryOnConflict(ctx, namespace,
		func(ctx context.Context, latest *api.Namespace) (*api.Namespace, error) {
			if !d.hasToken(latest) {
				return latest, nil
			}
			return d.Namespaces.UpdateSubresource(ctx, latest.Name, "finalize", d.withoutToken(latest),
				api.UpdateOptions{})
		})
	d.Trace.Finalized(namespace.Name, err)
	return updated, err
}

// withoutToken returns a copy of the namespace without this controller's token. The other tokens
// are sorted, without duplicates.
func (d *deleter) withoutToken(namespace *api.Namespace) *api.Namespace {
	others := slices.DeleteFunc(slices.Clone(namespace.Spec.Finalizers),
		func(token string) bool { return token == d.FinalizerToken })
	slices.Sort(others)
	changed := *namespace
	changed.Spec.Finalizers = slices.Compact(others)
	return &changed
}

// updateConditions writes what the pass has found into the status if it says anything new. A
// failure is traced and does not stop the deletion: the conditions are for people. A second party
// has none.
func (d *deleter) updateConditions(ctx context.Context, namespace *api.Namespace,
	found *nsctl.ConditionUpdater) *api.Namespace {
	if !d.FirstParty() {
		return namespace
	}
	defer d.Trace.Phase(namespace.Name, nsctl.PhaseReport)()
	written := false
	updated, err := d.retryOnConflict(ctx, namespace,
		func(ctx context.Context, latest *api.Namespace) (*api.Namespace, error) {
			reported, changed := found.Update(latest)
			if written = changed; !changed {
				return latest, nil
			}
			return d.Namespaces.UpdateStatus(ctx, reported, api.UpdateOptions{})
		})
	if err != nil {
		d.Trace.ConditionsFailed(namespace.Name, err)
		return namespace
	}
	if written {
		d.Trace.ConditionsUpdated(namespace.Name, updated.Status.Conditions)
	} else {
		d.Trace.ConditionsKept(namespace.Name, updated.Status.Conditions)
	}
	return updated
}

// retryOnConflict writes a namespace and, if another client's write came first, reads it again and
// repeats. write starts from its argument and must not change it. After the last try it returns the
// conflict; the retry of the whole pass takes over then.
func (d *deleter) retryOnConflict(ctx context.Context, namespace *api.Namespace,
	write func(context.Context, *api.Namespace) (*api.Namespace, error)) (*api.Namespace, error) {
	backoff := d.ConflictBackoff
	latest := namespace
	for {
		updated, err := write(ctx, latest)
		if err == nil {
			return updated, nil
		}
		if !api.IsConflict(err) || backoff.Steps <= 0 {
			return nil, err
		}
		d.Trace.Conflict(latest.Name, err)
		if wait.Sleep(ctx, backoff.Step()) != nil {
			return nil, context.Cause(ctx)
		}
		latest, err = d.Namespaces.Get(ctx, namespace.Name, api.GetOptions{})
		if err != nil {
			return nil, err
		}
		if latest.UID != namespace.UID {
			return nil, &nsctl.UIDChangedError{Namespace: namespace.Name, OldUID: namespace.UID, NewUID: latest.UID}
		}
	}
}
