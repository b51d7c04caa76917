package registry

import (
	"slices"
	"time"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// The garbage collector's finalizers.
const (
	// FinalizerForeground holds an object until its dependents are gone.
	FinalizerForeground = "foregroundDeletion"
	// FinalizerOrphan holds an object until its dependents no longer refer to it.
	FinalizerOrphan = "orphan"
)

// markGraceful marks an object whose type has a grace period: deletionTimestamp is the time at
// which that period ends. A second DELETE may only shorten it. graceful reports whether the type
// has a grace period; pending reports that nothing remains to be done.
func markGraceful(d *resources.Definition, o *api.Unstructured, asked *int64, now time.Time) (graceful, pending, changed bool) {
	if d.Strategy.GraceSeconds == nil {
		return false, false, false
	}
	if asked != nil && *asked < 0 {
		shortest := int64(1)
		asked = &shortest
	}
	metadata := metadataOf(o)
	if ends := o.GetDeletionTimestamp(); ends != nil {
		left, ok := wholeNumber(metadata["deletionGracePeriodSeconds"])
		switch {
		case !ok:
			return false, false, false
		case asked == nil || *asked >= left:
			return false, true, false
		}
		metadata["deletionTimestamp"] = timestamp(ends.Add(time.Duration(*asked-left) * time.Second))
		metadata["deletionGracePeriodSeconds"] = *asked
		return true, false, true
	}
	grace := d.Strategy.GraceSeconds(o, asked)
	metadata["deletionTimestamp"] = timestamp(now.Add(time.Duration(grace) * time.Second))
	metadata["deletionGracePeriodSeconds"] = grace
	nextGeneration(metadata)
	return true, false, true
}

// markAtOnce marks an object that only its finalizers hold.
func markAtOnce(o *api.Unstructured, now time.Time) bool {
	metadata := metadataOf(o)
	grace, marked := wholeNumber(metadata["deletionGracePeriodSeconds"])
	ends := o.GetDeletionTimestamp()
	if marked && grace == 0 && ends != nil {
		return false
	}
	if !marked {
		nextGeneration(metadata)
	}
	if ends == nil || ends.After(now) {
		metadata["deletionTimestamp"] = timestamp(now)
	}
	metadata["deletionGracePeriodSeconds"] = int64(0)
	return true
}

// nextGeneration increments metadata.generation, for types that have one.
func nextGeneration(metadata map[string]any) {
	if generation, ok := wholeNumber(metadata["generation"]); ok && generation > 0 {
		metadata["generation"] = generation + 1
	}
}

// propagation returns the policy of the request, else that of the type. It returns "" if the
// object's finalizers already state a policy.
func propagation(d *resources.Definition, o *api.Unstructured, asked api.DeletePropagation) api.DeletePropagation {
	if asked != "" {
		return asked
	}
	for _, finalizer := range o.GetFinalizers() {
		if finalizer == FinalizerForeground || finalizer == FinalizerOrphan {
			return ""
		}
	}
	return d.Strategy.DefaultPropagation
}

// setCollectorFinalizers sets the finalizer of the policy and reports whether the list has changed.
func setCollectorFinalizers(o *api.Unstructured, policy api.DeletePropagation) bool {
	old := o.GetFinalizers()
	finalizers := without(old, FinalizerForeground, FinalizerOrphan)
	switch policy {
	case api.DeletePropagationForeground:
		finalizers = append(finalizers, FinalizerForeground)
	case api.DeletePropagationOrphan:
		finalizers = append(finalizers, FinalizerOrphan)
	case "":
		return false
	}
	if len(finalizers) == len(old) && !slices.ContainsFunc(finalizers, func(one string) bool { return !slices.Contains(old, one) }) {
		return false
	}
	setFinalizers(o, finalizers)
	return true
}
