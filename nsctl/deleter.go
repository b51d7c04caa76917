package nsctl

import (
	"context"
	"errors"
	"slices"

	"orrery/restclient/api"
	"orrery/wait"
)

// namespacedResourcesDeleter is the articles' deleter: discovery with each pass, one type after the
// other, a LIST after each DELETE. To lose no content it differs from kube-controller-manager: an
// error while deleting pods ends the pass, and a 404 says nothing about content. Upstream also
// empties a namespace without its token, and one that was re-created during the pass; this deleter
// does not.
type namespacedResourcesDeleter struct {
	nsClient       NamespaceClient
	metadataClient ContentClient
	discovery      Discovery
	finalizerToken string
	firstParty     bool // phase and conditions are ours to write
	backoff        wait.Backoff
	trace          *Trace
}

// NewDeleter returns the textbook deleter, or one that only reports if config.DryRun is set.
func NewDeleter(config DeleterConfig) Deleter {
	config = config.WithDefaults()
	if config.DryRun {
		return NewDryRun(config)
	}
	return &namespacedResourcesDeleter{
		nsClient:       config.Namespaces,
		metadataClient: config.Content,
		discovery:      config.Discovery,
		finalizerToken: config.FinalizerToken,
		firstParty:     config.FirstParty(),
		backoff:        config.ConflictBackoff,
		trace:          config.Trace,
	}
}

// Delete makes one pass over a namespace, see [Deleter]:
//   - It reads the namespace from the server (PhaseReading): the informer's copy may be old. If it
//     is not terminating, or was re-created since seen (IsOfAnother), Delete returns nil at once.
//   - It sets status.phase. If the namespace is not terminating then, it returns. It leaves a
//     namespace without this controller's token as it is, calls Trace.NoToken and returns.
//   - It deletes the content. An error or an estimate (*ResourcesRemainingError) ends the pass, and
//     so does the end of the namespace (UntilGone): ErrGone is no failure.
//   - It removes its token, if there (PhaseFinalization); Trace.Finalized gets the outcome.
//
// Writes go through retryOnConflictError. A 404 for the namespace means that it is gone: nil. Other
// errors of its own requests say what for: "reading the namespace", "setting the phase",
// "finalizing". Those of deleteAllContent do not.
func (d *namespacedResourcesDeleter) Delete(ctx context.Context, nsName string, seen ObservedDeletion) error {
	endReading := d.trace.Phase(nsName, PhaseReading)
	namespace, err := d.nsClient.Get(ctx, nsName, api.GetOptions{})
	endReading()
	if err != nil {
		return WhileDoing("reading the namespace", err)
	}
	if namespace.DeletionTimestamp == nil || seen.IsOfAnother(namespace) {
		return nil
	}
	namespace, err = d.retryOnConflictError(ctx, namespace, d.updateNamespaceStatusFunc)
	if err != nil {
		return WhileDoing("setting the phase", err)
	}
	if namespace.DeletionTimestamp == nil {
		return nil
	}
	if !slices.Contains(namespace.Spec.Finalizers, d.finalizerToken) {
		d.trace.NoToken(nsName, namespace.Spec.Finalizers)
		return nil
	}
	whileThere, end := seen.UntilGone(ctx)
	defer end(nil)
	namespace, estimate, err := d.deleteAllContent(whileThere, namespace)
	if errors.Is(err, ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	if estimate > 0 {
		return &ResourcesRemainingError{Estimate: estimate}
	}

	// The namespace is empty. The server removes it together with the last token.
	if !slices.Contains(namespace.Spec.Finalizers, d.finalizerToken) {
		return nil
	}
	defer d.trace.Phase(nsName, PhaseFinalization)()
	_, err = d.retryOnConflictError(ctx, namespace, d.finalizeNamespace)
	d.trace.Finalized(nsName, err)
	return WhileDoing("finalizing", err)
}

// updateNamespaceFunc writes a namespace and returns the server's answer. It leaves its argument.
type updateNamespaceFunc func(ctx context.Context, namespace *api.Namespace) (*api.Namespace, error)

// retryOnConflictError calls fn, and again on the server's latest state while another client's
// write comes first. A namespace that was re-created under the same name is not written to.
func (d *namespacedResourcesDeleter) retryOnConflictError(
	ctx context.Context, namespace *api.Namespace, fn updateNamespaceFunc,
) (*api.Namespace, error) {
	latestNamespace, backoff := namespace, d.backoff
	for {
		result, err := fn(ctx, latestNamespace)
		if !api.IsConflict(err) || backoff.Steps <= 0 {
			return result, err
		}
		d.trace.Conflict(namespace.Name, err)
		if wait.Sleep(ctx, backoff.Step()) != nil {
			return nil, context.Cause(ctx)
		}
		latestNamespace, err = d.nsClient.Get(ctx, namespace.Name, api.GetOptions{})
		if err != nil {
			return nil, err
		}
		if latestNamespace.UID != namespace.UID {
			other := latestNamespace.UID
			return nil, &UIDChangedError{Namespace: namespace.Name, OldUID: namespace.UID, NewUID: other}
		}
	}
}

// updateNamespaceStatusFunc sets the phase Terminating, which servers do themselves today. A
// namespace without this controller's token is not its business.
func (d *namespacedResourcesDeleter) updateNamespaceStatusFunc(
	ctx context.Context, namespace *api.Namespace,
) (*api.Namespace, error) {
	hasToken := slices.Contains(namespace.Spec.Finalizers, d.finalizerToken)
	terminating := namespace.Status.Phase == api.NamespaceTerminating
	if namespace.DeletionTimestamp == nil || terminating || !d.firstParty || !hasToken {
		return namespace, nil
	}
	newNamespace := *namespace
	newNamespace.Status.Phase = api.NamespaceTerminating
	return d.nsClient.UpdateStatus(ctx, &newNamespace, api.UpdateOptions{})
}

// finalizeNamespace writes a copy of the namespace without this controller's token to the
// subresource finalize, and returns the answer. The other tokens stay, sorted and without
// duplicates as in upstream's string set. Without the token it only returns the namespace.
func (d *namespacedResourcesDeleter) finalizeNamespace(
	ctx context.Context, namespace *api.Namespace,
) (*api.Namespace, error) {
	if !slices.Contains(namespace.Spec.Finalizers, d.finalizerToken) {
		return namespace, nil
	}
	namespaceFinalize := *namespace
	namespaceFinalize.Spec.Finalizers = nil
	for _, finalizer := range slices.Compact(slices.Sorted(slices.Values(namespace.Spec.Finalizers))) {
		if finalizer != d.finalizerToken {
			namespaceFinalize.Spec.Finalizers = append(namespaceFinalize.Spec.Finalizers, finalizer)
		}
	}
	options := api.UpdateOptions{}
	return d.nsClient.UpdateSubresource(ctx, namespace.Name, "finalize", &namespaceFinalize, options)
}

// deleteAllContent deletes the objects of each type of discoverResources, in order, and writes what
// remains into the conditions. It returns the namespace with them, the longest estimate, and Err.
//   - Trace.TypeDeleted and ConditionUpdater.ProcessContent get the result of each type. After a
//     failure the other types follow; nothing follows pods that failed or remain (KEP-5080).
//   - If ctx has ended, the errors say nothing about the namespace: it returns the cause alone. If
//     the namespace has ended (HasEnded), it returns that error, and touches no other type.
//   - Only the first party writes conditions (PhaseReport): on the latest state, if Update changed
//     any. Trace.ConditionsUpdated or ConditionsKept gets them; ConditionsFailed gets a failure.
func (d *namespacedResourcesDeleter) deleteAllContent(
	ctx context.Context, namespace *api.Namespace,
) (*api.Namespace, int64, error) {
	var conditionUpdater ConditionUpdater
	estimate := int64(0)
	for _, resource := range d.discoverResources(ctx, namespace, &conditionUpdater) {
		remains, err := d.deleteAllContentForGroupVersionResource(ctx, resource, namespace)
		if HasEnded(err) {
			return nil, 0, err
		}
		d.trace.TypeDeleted(namespace.Name, resource.GVR, remains.Items, err)
		conditionUpdater.ProcessContent(resource.GVR, remains, err)
		estimate = max(estimate, remains.Estimate)
		if resource.IsPods() && (err != nil || remains.Items > 0) {
			break // While a pod runs, the things that it may rely on stay.
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, 0, err
	}
	if !d.firstParty {
		return namespace, estimate, conditionUpdater.Err()
	}
	defer d.trace.Phase(namespace.Name, PhaseReport)()
	reported := false
	report := func(ctx context.Context, latest *api.Namespace) (*api.Namespace, error) {
		withConditions, hasChanged := conditionUpdater.Update(latest)
		if reported = hasChanged; !hasChanged {
			return latest, nil
		}
		return d.nsClient.UpdateStatus(ctx, withConditions, api.UpdateOptions{})
	}
	updated, err := d.retryOnConflictError(ctx, namespace, report)
	switch {
	case err != nil: // The conditions are for people. The deletion goes on without them.
		d.trace.ConditionsFailed(namespace.Name, err)
		updated = namespace
	case reported:
		d.trace.ConditionsUpdated(namespace.Name, updated.Status.Conditions)
	default:
		d.trace.ConditionsKept(namespace.Name, updated.Status.Conditions)
	}
	return updated, estimate, conditionUpdater.Err()
}

// discoverResources returns the types that the namespace may hold, pods first. Its discovery is not
// older than the deletion: a type may be new. If some groups fail it returns the others, unless
// pods are missing, which must be deleted first. conditionUpdater.Err has the failure.
func (d *namespacedResourcesDeleter) discoverResources(
	ctx context.Context, namespace *api.Namespace, conditionUpdater *ConditionUpdater,
) []DeletableResource {
	defer d.trace.Phase(namespace.Name, PhaseDiscovery)()
	d.discovery.Invalidate()
	lists, err := d.discovery.PreferredNamespacedResources(ctx, namespace.DeletionTimestamp.Time)
	resources, err := conditionUpdater.ProcessDiscovery(lists, err)
	d.trace.Discovered(namespace.Name, len(resources), err)
	if err != nil && !slices.ContainsFunc(resources, DeletableResource.IsPods) {
		return nil
	}
	return resources
}

// deleteAllContentForGroupVersionResource deletes all objects of a type, in the type's phase, up to
// the first error. It makes the estimate, deletes the collection, or each item if the server cannot
// do that, and lists what is left, because a deletion may wait for a grace period or a finalizer.
// Remains.Check fails the type if something is left for no known reason: nothing unseen goes.
func (d *namespacedResourcesDeleter) deleteAllContentForGroupVersionResource(
	ctx context.Context, resource DeletableResource, namespace *api.Namespace,
) (Remains, error) {
	defer d.trace.Phase(namespace.Name, resource.Phase())()
	estimate, err := d.estimateGracefulTermination(ctx, resource, namespace)
	if err != nil {
		return Remains{}, err
	}
	_, deleteCollectionSupported, err := d.deleteCollection(ctx, resource, namespace)
	if err == nil && !deleteCollectionSupported {
		err = d.deleteEachItem(ctx, resource, namespace)
	}
	if err != nil {
		return Remains{}, err
	}
	remains, err := d.listCollection(ctx, resource, namespace, estimate)
	if err != nil {
		return remains, err
	}
	return remains, remains.Check(namespace.Name, resource.GVR)
}

// deleteCollection deletes the type's objects in one request, and returns those that the server
// says it found. It returns false if the server cannot. The request only names a namespace, so
// CheckStillThere looks first whether it still is the one of this pass.
func (d *namespacedResourcesDeleter) deleteCollection(
	ctx context.Context, resource DeletableResource, namespace *api.Namespace,
) ([]*api.PartialObjectMetadata, bool, error) {
	if !resource.CanDeleteCollection {
		return nil, false, nil
	}
	if err := CheckStillThere(ctx, d.nsClient, namespace); err != nil {
		return nil, false, err
	}
	found, _, err := d.metadataClient.DeleteCollection(ctx, resource.GVR, namespace.Name)
	switch {
	case err == nil, errors.Is(err, ErrUnread) && resource.CanList: // a LIST follows
		return found, true, nil
	case NotServed(err) && resource.CanList:
		return nil, false, nil // the LIST before deleting one by one fails if the type has gone altogether
	}
	return nil, false, &ResourceError{Doing: "deleting the collection", Resource: resource.GVR, Err: err}
}

// deleteEachItem deletes the objects of the type one by one, page by page. Those that are already
// gone are fine. The server compares each object's UID, and a namespace that is still there after a
// page was listed had these objects.
func (d *namespacedResourcesDeleter) deleteEachItem(
	ctx context.Context, resource DeletableResource, namespace *api.Namespace,
) error {
	if !resource.CanList {
		return nil
	}
	deletePage := func(page []*api.PartialObjectMetadata) error {
		if len(page) == 0 {
			return nil
		}
		if err := CheckStillThere(ctx, d.nsClient, namespace); err != nil {
			return err
		}
		for _, item := range page {
			err := d.metadataClient.Delete(ctx, resource.GVR, namespace.Name, item)
			if err != nil && !NotServed(err) {
				return &ResourceError{Doing: "deleting " + item.Name, Resource: resource.GVR, Err: err}
			}
		}
		return nil
	}
	err := d.metadataClient.Pages(ctx, resource.GVR, namespace.Name, deletePage)
	return WhileListing(resource.GVR, err)
}

// listCollection counts what is left of the type: by a LIST (ListRemains), or by the answer to
// another deletecollection (CountRemains). A type without either verb counts as empty.
func (d *namespacedResourcesDeleter) listCollection(
	ctx context.Context, resource DeletableResource, namespace *api.Namespace, estimate int64,
) (Remains, error) {
	if resource.CanList {
		return ListRemains(ctx, d.metadataClient, resource.GVR, namespace.Name, estimate)
	}
	found, _, err := d.deleteCollection(ctx, resource, namespace)
	return CountRemains(found, estimate), err
}

// estimateGracefulTermination returns how many seconds the type may take to end: only pods do.
func (d *namespacedResourcesDeleter) estimateGracefulTermination(
	ctx context.Context, resource DeletableResource, namespace *api.Namespace,
) (int64, error) {
	if !resource.IsPods() {
		return 0, nil
	}
	pods, err := d.metadataClient.ListPods(ctx, namespace.Name)
	if err != nil {
		return 0, &ResourceError{Doing: "listing", Resource: resource.GVR, Err: err}
	}
	return EstimateGracefulTerminationForPods(pods, namespace.DeletionTimestamp.Time), nil
}
