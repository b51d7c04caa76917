package fast

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// pass is one look at one terminating namespace, with what it has found so far.
type pass struct {
	*deleter
	namespace *api.Namespace // as it was last read or written
	settled   time.Time      // nothing has been created in the namespace since, by our own clock
	end       context.CancelCauseFunc

	found    nsctl.ConditionUpdater
	estimate int64 // the seconds that what is left may take
}

// run deletes the content, and reports or finalizes the namespace.
func (p *pass) run(ctx context.Context, seen nsctl.ObservedDeletion) error {
	var whileThere context.Context
	whileThere, p.end = seen.UntilGone(ctx)
	defer p.end(nil)
	p.deleteAllContent(whileThere)
	switch err := context.Cause(whileThere); {
	case errors.Is(err, nsctl.ErrGone):
		return nil
	case err != nil:
		return err // the pass was cut short: its findings are not about the namespace
	}
	err := p.found.Err()
	quiet := err == nil && p.estimate == 0 && p.goesWithToken()
	if !quiet {
		p.report(ctx)
	}
	switch {
	case err != nil:
		return err
	case p.estimate > 0:
		return &nsctl.ResourcesRemainingError{Estimate: p.estimate}
	case !p.hasToken(p.namespace):
		return nil
	}
	err = p.finalize(ctx)
	isHeld := len(p.namespace.Spec.Finalizers) > 0 || len(p.namespace.Finalizers) > 0
	if quiet && isHeld && !nsctl.IsGone(err) {
		p.report(ctx) // finalizing failed, or another client has added a finalizer meanwhile
	}
	return nsctl.WhileDoing("finalizing", err)
}

// goesWithToken reports whether the namespace, now empty, will go with this controller's token,
// because nothing else holds it. No client could read a report that is written just before.
// Conditions that report trouble are still corrected, for clients that watch to the end.
func (p *pass) goesWithToken() bool {
	others := func(finalizer string) bool { return finalizer != p.FinalizerToken }
	return len(p.namespace.Finalizers) == 0 &&
		!slices.ContainsFunc(p.namespace.Spec.Finalizers, others) &&
		!nsctl.ReportsTrouble(p.namespace.Status.Conditions)
}

// deleteAllContent deletes everything in the namespace and records what is left.
//
// Pods come first and alone: while one of them runs, the things it may rely on, network policies
// above all, stay (KEP-5080). An error in that step ends the pass for the same reason; upstream
// goes on there.
//
// If discovery failed for some groups, the content of the others is deleted, and the pass fails:
// what could not be seen may hold content. If the pods could not be seen, nothing is deleted.
//
// An emptiness check does not count for a namespace in which an earlier pass was refused something
// or left something: its types are asked one by one.
func (p *pass) deleteAllContent(ctx context.Context) {
	resources := p.discover(ctx)
	havePods := len(resources) > 0 && resources[0].IsPods()
	if !havePods && p.found.DiscoveryFailed() {
		return
	}
	endCheck := p.Trace.Phase(p.namespace.Name, nsctl.PhaseEmptinessCheck)
	var check *emptinessCheck
	if !nsctl.ReportsTrouble(p.namespace.Status.Conditions) {
		check = p.emptiness.check(ctx, resources, p.settled)
	}
	endCheck()
	resources = slices.DeleteFunc(resources,
		func(r nsctl.DeletableResource) bool { return check.provesEmpty(r.GVR, p.namespace.Name) })
	if len(resources) > 0 && resources[0].IsPods() {
		if !p.deleteTypes(ctx, nsctl.PhasePods, resources[:1]) {
			return
		}
		resources = resources[1:]
	}
	p.deleteTypes(ctx, nsctl.PhaseContent, resources)
}

// discover returns the types that may have content. A discovery that began before the end of the
// grace period might lack a type of which objects were created just then; freshTypes makes sure
// that the answer is new enough.
func (p *pass) discover(ctx context.Context) []nsctl.DeletableResource {
	defer p.Trace.Phase(p.namespace.Name, nsctl.PhaseDiscovery)()
	lists, err := p.types.of(ctx, p.namespace.DeletionTimestamp.Time, p.settled)
	resources, err := p.found.ProcessDiscovery(lists, err)
	p.Trace.Discovered(p.namespace.Name, len(resources), err)
	return resources
}

// deleteTypes deletes the content of the types in parallel, and reports whether nothing is left. An
// error of one does not stop the others.
func (p *pass) deleteTypes(ctx context.Context, phase nsctl.Phase, resources []nsctl.DeletableResource) (empty bool) {
	defer p.Trace.Phase(p.namespace.Name, phase)()
	lefts := make([]nsctl.Remains, len(resources))
	errs := make([]error, len(resources))
	nsctl.Parallelize(len(resources), p.Concurrency, func(i int) {
		lefts[i], errs[i] = p.deleteAndCount(ctx, resources[i])
		p.Trace.TypeDeleted(p.namespace.Name, resources[i].GVR, lefts[i].Items, errs[i])
	})
	if slices.ContainsFunc(errs, nsctl.NotServed) {
		p.Discovery.Invalidate() // it lists a type that has gone, perhaps
	}
	empty = true
	for i, resource := range resources {
		p.found.ProcessContent(resource.GVR, lefts[i], errs[i])
		p.estimate = max(p.estimate, lefts[i].Estimate)
		empty = empty && errs[i] == nil && lefts[i].Items == 0
	}
	return empty
}

// freshTypes makes sure that a pass knows every type of which the namespace may hold objects.
//
// It is not enough that a discovery is younger than the deletion: within the grace period some
// servers do not know of the deletion yet and let content be created, also of a type that appeared
// a moment before. A discovery must have begun after the grace period ended, by our own clock.
// Namespaces that had settled when it began share it, so a burst of deletions asks a few times; in
// a slow stream of them each asks for itself.
type freshTypes struct {
	discovery nsctl.Discovery

	mu    sync.Mutex
	asked time.Time // what the discovery remembers is no older than this
}

// of returns the types as they were after the deletion, by the server's clock, and after the
// namespace had settled.
func (f *freshTypes) of(ctx context.Context, deletedAt, settled time.Time) ([]*api.APIResourceList, error) {
	f.mu.Lock()
	if f.asked.Before(settled) {
		asked := time.Now() // before Invalidate: a request that began in between is younger than this
		f.discovery.Invalidate()
		f.asked = asked
	}
	f.mu.Unlock()
	return f.discovery.PreferredNamespacedResources(ctx, deletedAt)
}
