package fast

import (
	"cmp"
	"context"
	"slices"
	"time"

	"orrery/nsctl"
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
		return nsctl.WhileDoing("reading the namespace", err)
	}
	if namespace.DeletionTimestamp == nil || seen.IsOfAnother(namespace) {
		return nil
	}
	p := &pass{deleter: d, namespace: namespace, settled: cmp.Or(seen.Settled, time.Now())}
	if err := p.markTerminating(ctx); err != nil {
		return nsctl.WhileDoing("setting the phase", err)
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
func (p *pass) markTerminating(ctx context.Context) error {
	if p.namespace.Status.Phase == api.NamespaceTerminating || !p.FirstParty() {
		return nil
	}
	defer p.Trace.Phase(p.namespace.Name, nsctl.PhaseReport)()
	return p.write(ctx, func(latest *api.Namespace) (*api.Namespace, error) {
		if latest.Status.Phase == api.NamespaceTerminating || !p.hasToken(latest) {
			return latest, nil
		}
		terminating := *latest
		terminating.Status.Phase = api.NamespaceTerminating
		return p.Namespaces.UpdateStatus(ctx, &terminating, api.UpdateOptions{})
	})
}

// report writes what the pass has found into the status if it says anything new. A failure is
// traced and does not stop the deletion: the conditions are for people. A second party has none.
func (p *pass) report(ctx context.Context) {
	if !p.FirstParty() {
		return
	}
	defer p.Trace.Phase(p.namespace.Name, nsctl.PhaseReport)()
	written := false
	err := p.write(ctx, func(latest *api.Namespace) (*api.Namespace, error) {
		reported, changed := p.found.Update(latest)
		if written = changed; !changed {
			return latest, nil
		}
		return p.Namespaces.UpdateStatus(ctx, reported, api.UpdateOptions{})
	})
	switch {
	case err != nil:
		p.Trace.ConditionsFailed(p.namespace.Name, err)
	case written:
		p.Trace.ConditionsUpdated(p.namespace.Name, p.namespace.Status.Conditions)
	default:
		p.Trace.ConditionsKept(p.namespace.Name, p.namespace.Status.Conditions)
	}
}

// finalize removes this controller's token through the finalize subresource, and no other. The
// other tokens are sorted, without duplicates.
func (p *pass) finalize(ctx context.Context) error {
	defer p.Trace.Phase(p.namespace.Name, nsctl.PhaseFinalization)()
	err := p.write(ctx, func(latest *api.Namespace) (*api.Namespace, error) {
		if !p.hasToken(latest) {
			return latest, nil
		}
		others := slices.DeleteFunc(slices.Sorted(slices.Values(latest.Spec.Finalizers)),
			func(token string) bool { return token == p.FinalizerToken })
		without := *latest
		without.Spec.Finalizers = slices.Compact(others)
		return p.Namespaces.UpdateSubresource(ctx, latest.Name, "finalize", &without, api.UpdateOptions{})
	})
	p.Trace.Finalized(p.namespace.Name, err)
	return err
}

// write makes a write on the namespace of the pass and, if another client's write came first, reads
// it again and repeats. update starts from its argument and must not change it. After the last try
// write returns the conflict; the retry of the whole pass takes over then. The pass has the
// namespace as it is afterwards, also if it went with the write.
func (p *pass) write(ctx context.Context, update func(latest *api.Namespace) (*api.Namespace, error)) error {
	backoff := p.ConflictBackoff
	for latest := p.namespace; ; {
		updated, err := update(latest)
		if err == nil {
			p.namespace = updated
			return nil
		}
		if !api.IsConflict(err) || backoff.Steps <= 0 {
			return err
		}
		p.Trace.Conflict(latest.Name, err)
		if wait.Sleep(ctx, backoff.Step()) != nil {
			return context.Cause(ctx)
		}
		if latest, err = p.Namespaces.Get(ctx, latest.Name, api.GetOptions{}); err != nil {
			return err
		}
		if latest.UID != p.namespace.UID {
			return &nsctl.UIDChangedError{Namespace: latest.Name, OldUID: p.namespace.UID, NewUID: latest.UID}
		}
	}
}
