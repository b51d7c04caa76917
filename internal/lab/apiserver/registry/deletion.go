package registry

import (
	"slices"
	"time"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

// The finalizers that the garbage collector answers for: an object with one of them waits until the collector has dealt
// with what the object owns.
const (
	// FinalizerForeground holds an object until its dependents are gone.
	FinalizerForeground = "foregroundDeletion"
	// FinalizerOrphan holds an object until its dependents have forgotten it.
	FinalizerOrphan = "orphan"
)

// markGraceful marks an object of a type that ends in its own time: deletionTimestamp is the moment when that time is over.
// A second DELETE may only shorten the time. pending says that there is nothing to do, graceful that the type is one of
// these.
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

// nextGeneration counts the wish to delete as a change of what is wanted, for types that count.
func nextGeneration(metadata map[string]any) {
	if generation, ok := wholeNumber(metadata["generation"]); ok && generation > 0 {
		metadata["generation"] = generation + 1
	}
}

// propagation is the policy of a delete: the one of the request; or the one that the object's finalizers stand for, which
// is "" here, as nothing is to be changed; or that of the type.
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

// setCollectorFinalizers makes the finalizers say what the policy is. It tells whether they have changed.
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
