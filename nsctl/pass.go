package nsctl

import (
	"context"
	"slices"
	"sync"
	"time"

	"orrery/restclient/api"
)

// pass is one look at one namespace that is being deleted, with what has been learnt on the way.
type pass struct {
	*Deleter
	namespace *api.Namespace // as it was when it was last read or written
	ahead     *ahead         // nil: the types have not been asked for yet
	settled   time.Time      // nothing has been created in the namespace since, by our own clock

	found    findings
	estimate int64 // the seconds that what is left may take
}

// run empties the namespace, and reports or finalizes it.
func (p *pass) run(ctx context.Context) error {
	p.deleteAllContent(ctx)
	if err := context.Cause(ctx); err != nil {
		return err // the pass was cut short: its findings are not about the namespace
	}
	err := p.found.err()
	if err == nil && p.estimate == 0 && p.goesWithToken() {
		return p.finish(ctx)
	}
	p.namespace = p.updateConditions(ctx, p.namespace, &p.found)
	if err != nil {
		return err
	}
	if p.estimate > 0 {
		return &ResourcesRemainingError{Estimate: p.estimate}
	}
	if !slices.Contains(p.namespace.Spec.Finalizers, p.token) {
		return nil
	}
	_, err = p.finalize(ctx, p.namespace)
	return ignoreNotFound(inDoing("finalizing", err))
}

// goesWithToken tells whether the namespace, now empty, is going to vanish with this controller's token: nobody else
// holds it. A report written just before would be read by nobody. One that says that something is wrong is corrected
// all the same, for those who watch to the end.
func (p *pass) goesWithToken() bool {
	others := func(finalizer string) bool { return finalizer != p.token }
	return len(p.namespace.Finalizers) == 0 &&
		!slices.ContainsFunc(p.namespace.Spec.Finalizers, others) &&
		!reportsTrouble(p.namespace.Status.Conditions)
}

// finish finalizes a namespace, and reports only if that did not make it go: it failed, or somebody was faster and
// holds it now.
func (p *pass) finish(ctx context.Context) error {
	updated, err := p.finalize(ctx, p.namespace)
	switch {
	case api.IsNotFound(err):
		return nil
	case err != nil:
		p.updateConditions(ctx, p.namespace, &p.found)
		return inDoing("finalizing", err)
	case len(updated.Spec.Finalizers) > 0 || len(updated.Finalizers) > 0:
		p.updateConditions(ctx, updated, &p.found)
	}
	return nil
}

// deleteAllContent deletes everything in the namespace and notes what is left.
//
// Pods go first and alone: while one of them runs, the things it may rely on, network policies above all, stay
// (KEP-5080). An error in that step ends the pass for the same reason; the original goes on there, and deletes
// the network policies of pods that still run.
//
// A discovery that failed for some groups does not keep the other groups' content, but it is in the error of the pass:
// what could not be seen may hold content, and the namespace must not be finalized. If it is the pods that could not be
// seen, nothing else is touched either.
func (p *pass) deleteAllContent(ctx context.Context) {
	resources := p.discover(ctx)
	pods, others := splitPods(resources)
	if pods == nil && p.found.discoveryErr != nil {
		return
	}
	endSurvey := p.trace.phase(p.namespace.Name, PhaseSurvey)
	seen := p.surveyor.survey(ctx, resources, p.settled)
	endSurvey()
	if pods != nil && !seen.provesEmpty(pods.gvr, p.namespace.Name) {
		endPods := p.trace.phase(p.namespace.Name, PhasePods)
		left, err := p.emptyPods(ctx, *pods, p.namespace)
		endPods()
		p.note(*pods, left, err)
		if err != nil || left.items > 0 {
			return
		}
	}
	others = slices.DeleteFunc(others, func(r deletableResource) bool { return seen.provesEmpty(r.gvr, p.namespace.Name) })
	p.emptyAll(ctx, others)
}

// discover finds the types that may have content. A discovery that is older than the end of the grace period might not know a
// type of which objects were created just before that; freshTypes sees to it that the answer is new enough.
func (p *pass) discover(ctx context.Context) []deletableResource {
	defer p.trace.phase(p.namespace.Name, PhaseDiscovery)()
	lists, err := p.ahead.answer()
	if p.ahead == nil {
		lists, err = p.types.of(ctx, p.namespace.DeletionTimestamp.Time, p.settled)
	}
	p.found.discoveryErr = err
	resources, err := deletableResources(lists)
	p.found.parseErr = err
	if len(resources) == 0 && p.found.err() == nil {
		p.found.discoveryErr = ErrNothingDiscovered
	}
	p.trace.discovered(p.namespace.Name, len(resources), p.found.discoveryErr)
	return resources
}

// emptyAll empties the types side by side. One type's failure does not keep the others from being emptied.
func (p *pass) emptyAll(ctx context.Context, resources []deletableResource) {
	defer p.trace.phase(p.namespace.Name, PhaseContent)()
	lefts := make([]remains, len(resources))
	errs := make([]error, len(resources))
	undecided := make([]bool, len(resources)) // the error may be forgiven, and is not told before
	sideBySide(len(resources), p.concurrency, func(i int) {
		lefts[i], errs[i] = p.emptyCollection(ctx, resources[i], p.namespace.Name)
		if undecided[i] = notServed(errs[i]); !undecided[i] {
			p.trace.typeDeleted(p.namespace.Name, resources[i].gvr, lefts[i].items, errs[i])
		}
	})
	p.forgiveVanished(ctx, resources, errs)
	for i, resource := range resources {
		if undecided[i] {
			p.trace.typeDeleted(p.namespace.Name, resource.gvr, lefts[i].items, errs[i])
		}
		p.found.add(resource.gvr, lefts[i], errs[i])
		p.estimate = max(p.estimate, lefts[i].estimate)
	}
}

// forgiveVanished clears the errors of types that were not found because they do not exist any more, and their objects
// with them: a definition was deleted while the pass was under way. That a type is not found does not say so by itself (a
// server that has not learnt of a type yet says the same), so discovery is asked again. A type that it still lists, be
// it in another version, may have content. The original takes each "not found" for an empty type.
func (p *pass) forgiveVanished(ctx context.Context, resources []deletableResource, errs []error) {
	if !slices.ContainsFunc(errs, notServed) {
		return
	}
	p.discovery.Invalidate()
	lists, err := p.discovery.PreferredNamespacedResources(ctx, p.namespace.DeletionTimestamp.Time)
	now, parseErr := deletableResources(lists)
	if err != nil || parseErr != nil || len(now) == 0 {
		return
	}
	for i, resource := range resources {
		listed := slices.ContainsFunc(now, func(r deletableResource) bool {
			return r.gvr.Group == resource.gvr.Group && r.gvr.Resource == resource.gvr.Resource
		})
		if notServed(errs[i]) && !listed {
			errs[i] = nil
		}
	}
}

// note records and tells what is left of the pods.
func (p *pass) note(resource deletableResource, left remains, err error) {
	p.trace.typeDeleted(p.namespace.Name, resource.gvr, left.items, err)
	p.found.add(resource.gvr, left, err)
	p.estimate = left.estimate
}

// sideBySide calls do for 0 to n-1, at most limit at a time, and returns when all calls have. If one of them panicked it
// panics then, with the *PanicError of one that did: on a goroutine of its own nobody could keep the panic from ending
// the process.
func sideBySide(n, limit int, do func(i int)) {
	slots := make(chan struct{}, limit)
	panics := make([]*PanicError, n)
	var running sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			defer catch(&panics[i])
			do(i)
		})
	}
	running.Wait()
	for _, err := range panics {
		if err != nil {
			panic(err)
		}
	}
}
