package apps

import (
	"context"
	"reflect"
	"time"

	"orrery/restclient/api"
)

// calculateStatus returns the status to report, and how long it takes until the next ready pod
// becomes available, 0 if there is none.
func calculateStatus(
	set *ReplicaSet, pods []*Pod, manageErr error, now time.Time,
) (status ReplicaSetStatus, after time.Duration) {
	template := LabelSelector{MatchLabels: set.Spec.Template.Labels}
	minReady := time.Duration(set.Spec.MinReadySeconds) * time.Second
	status = ReplicaSetStatus{
		Replicas:           len(pods),
		ObservedGeneration: set.Generation,
		Conditions:         set.Status.Conditions,
	}
	for _, pod := range pods {
		if template.Matches(pod.Labels) {
			status.FullyLabeledReplicas++
		}
		wait, ready := pod.AvailableIn(minReady, now)
		switch {
		case !ready:
			continue
		case wait == 0:
			status.AvailableReplicas++
		case after == 0 || wait < after:
			after = wait
		}
		status.ReadyReplicas++
	}
	if manageErr == nil {
		status.Conditions = WithoutCondition(status.Conditions, ReplicaFailure)
		return status, after
	}
	reason := "FailedCreate"
	if len(pods) > set.Spec.Replicas {
		reason = "FailedDelete"
	}
	failure := NewCondition(ReplicaFailure, api.ConditionTrue, reason, manageErr.Error())
	failure.LastUpdateTime = api.Time{} // only deployments have it
	status.Conditions = WithCondition(status.Conditions, failure)
	return status, after
}

func (c *ReplicaSetController) updateStatus(ctx context.Context, set *ReplicaSet, status ReplicaSetStatus) error {
	if reflect.DeepEqual(status, set.Status) {
		return nil
	}
	_, err := Apply(ctx, c.sets.Client(set.Namespace), set, Change{Status: status}, "status")
	if api.IsNotFound(err) {
		return nil // the set has gone, and its status with it
	}
	return err
}
