package nsctl

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"orrery/restclient/api"
)

// deleteAllContent makes one pass over everything in the namespace and records what it learnt in the status.
// It returns the namespace as it is after the status update and the seconds that what is left may take.
//
// Pods go first and alone: while one of them runs, the things it may rely on, network policies above all, stay
// (KEP-5080). An error in that step ends the pass for the same reason; the original goes on there, and deletes
// the network policies of pods that still run.
//
// A discovery that failed for some groups does not keep the other groups' content, but it is in the error that
// is returned: what could not be seen may hold content, and the namespace must not be finalized. If it is the
// pods that could not be seen, nothing else is touched either.
func (d *Deleter) deleteAllContent(ctx context.Context, namespace *api.Namespace) (*api.Namespace, int64, error) {
	var found findings
	resources := d.discover(ctx, namespace, &found)
	pods, others := splitPods(resources)

	estimate, goOn := int64(0), pods != nil || found.discoveryErr == nil
	if pods != nil {
		left, err := d.emptyPods(ctx, *pods, namespace)
		d.trace.typeDeleted(namespace.Name, pods.gvr, left.items, err)
		found.add(pods.gvr, left, err)
		estimate = left.estimate
		goOn = err == nil && left.items == 0
	}
	if goOn {
		estimate = d.emptyAll(ctx, namespace.Name, others, &found)
	}

	if err := context.Cause(ctx); err != nil {
		// The pass was cut short: its findings are not about the namespace.
		return namespace, 0, err
	}
	namespace = d.updateConditions(ctx, namespace, &found)
	return namespace, estimate, found.err()
}

// discover finds the types that may have content. A discovery that is older than the deletion might not know a
// type of which objects were created just before it; d.discovery sees to it that the answer is new enough.
func (d *Deleter) discover(ctx context.Context, namespace *api.Namespace, found *findings) []deletableResource {
	lists, err := d.discovery.PreferredNamespacedResources(ctx, namespace.DeletionTimestamp.Time)
	found.discoveryErr = err
	resources, err := deletableResources(lists)
	found.parseErr = err
	if len(resources) == 0 && found.err() == nil {
		found.discoveryErr = ErrNothingDiscovered
	}
	d.trace.discovered(namespace.Name, len(resources), found.discoveryErr)
	return resources
}

// emptyAll empties the types side by side, at most d.concurrency at a time. One type's failure does not keep the
// others from being emptied. It returns the longest estimate.
func (d *Deleter) emptyAll(ctx context.Context, namespace string, resources []deletableResource, found *findings) int64 {
	type outcome struct {
		left remains
		err  error
	}
	outcomes := make([]outcome, len(resources))
	slots := make(chan struct{}, d.concurrency)
	var running sync.WaitGroup
	for i, resource := range resources {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			left, err := d.emptyCollection(ctx, resource, namespace)
			d.trace.typeDeleted(namespace, resource.gvr, left.items, err)
			outcomes[i] = outcome{left, err}
		})
	}
	running.Wait()

	var estimate int64
	for i, o := range outcomes {
		found.add(resources[i].gvr, o.left, o.err)
		estimate = max(estimate, o.left.estimate)
	}
	return estimate
}

// ContentError is why a pass over a namespace's content failed: one error for each thing that went wrong.
// errors.Is and errors.As look through all of them.
type ContentError struct {
	Errors []error
}

func (e *ContentError) Error() string {
	if len(e.Errors) == 1 {
		return e.Errors[0].Error()
	}
	texts := make([]string, len(e.Errors))
	for i, err := range e.Errors {
		texts[i] = err.Error()
	}
	return fmt.Sprintf("%d errors: [%s]", len(texts), strings.Join(texts, ", "))
}

// Unwrap lets errors.Is and errors.As see the parts.
func (e *ContentError) Unwrap() []error { return e.Errors }

// err is everything that went wrong in the pass, or nil.
func (f *findings) err() error {
	var all []error
	for _, err := range []error{f.discoveryErr, f.parseErr} {
		if err != nil {
			all = append(all, err)
		}
	}
	all = append(all, f.contentErrs...)
	if len(all) == 0 {
		return nil
	}
	return &ContentError{Errors: all}
}
