// Package shared has what both forms of the deleter need in a pass over a namespace, and no user of
// them: what an answer of the server means, and what a list of objects says.
package shared

import (
	"errors"
	"fmt"
	"time"

	"orrery/restclient/api"
)

// WhileDoing adds to an error what the request was for. It returns nil for nil.
func WhileDoing(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// IgnoreNotFound returns nil if err says that the namespace is gone, and err otherwise.
func IgnoreNotFound(err error) error {
	if IsGone(err) {
		return nil
	}
	return err
}

// IsGone reports whether the API server itself answered that the namespace does not exist: with a
// Status about a namespace. The 404 of a proxy or load balancer says nothing about it.
func IsGone(err error) bool {
	refused, ok := errors.AsType[*api.StatusError](err)
	if !ok || refused.Status.Reason != api.ReasonNotFound || refused.HasCause(api.CauseUnexpectedServerResponse) {
		return false
	}
	details := refused.Status.Details
	return details == nil || details.Kind == "" || details.Kind == api.NamespacesResource.Resource
}

// NotServed reports whether a type that discovery lists was answered as if it did not exist or
// lacked the verb.
func NotServed(err error) bool { return api.IsNotFound(err) || api.IsMethodNotAllowed(err) }

// EstimateGracefulTerminationForPods returns the longest grace period, in seconds, of the pods that
// still run in a namespace that was deleted then. It is 0 once that much time has passed: the pods
// are late then, and the period says nothing any more.
func EstimateGracefulTerminationForPods(pods []*api.Pod, deletedAt time.Time) int64 {
	var estimate int64
	for _, pod := range pods {
		ended := pod.Status.Phase == api.PodSucceeded || pod.Status.Phase == api.PodFailed
		if grace := pod.Spec.TerminationGracePeriodSeconds; !ended && grace != nil {
			estimate = max(estimate, *grace)
		}
	}
	if time.Since(deletedAt) >= time.Duration(estimate)*time.Second {
		return 0
	}
	return estimate
}

// CountUnmarked returns how many of the objects that a deletion found were not being deleted yet.
func CountUnmarked(found []*api.PartialObjectMetadata) int {
	unmarked := 0
	for _, object := range found {
		if object.DeletionTimestamp == nil {
			unmarked++
		}
	}
	return unmarked
}
