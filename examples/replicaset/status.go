package replicaset

import (
	"context"
	"reflect"
	"time"

	"orrery/examples/apps"
	"orrery/restclient/api"
)

// calculateStatus returns the status to report, and how long it takes until the next ready pod
// becomes available, 0 if there is none.
func calculateStatus(set *apps.ReplicaSet, pods []*apps.Pod, manageErr error, now time.Time) (status apps.ReplicaSetStatus, after time.Duration) {
	template := apps.LabelSelector{MatchLabels: set.Spec.Template.Labels}
	minReady := time.Duration(set.Spec.MinReadySeconds) * time.Second
	status = apps.ReplicaSetStatus{
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
		status.Conditions = apps.WithoutCondition(status.Conditions, apps.ReplicaFailure)
		return status, after
	}
	reason := "FailedCreate"
	if len(pods) > set.Spec.Replicas {
		reason = "FailedDelete"
	}
	failure := apps.NewCondition(apps.ReplicaFailure, api.ConditionTrue, reason, manageErr.Error())
	failure.LastUpdateTime = api.Time{} // only deployments have it
	status.Conditions = apps.WithCondition(status.Conditions, failure)
	return status, after
}

func (c *Controller) updateStatus(ctx context.Context, set *apps.ReplicaSet, status apps.ReplicaSetStatus) error {
	if reflect.DeepEqual(status, set.Status) {
		return nil
	}
	stored, err := apps.Apply(ctx, c.sets.Client(set.Namespace), set, apps.Change{Status: status}, "status")
	if api.IsNotFound(err) {
		return nil // the set has gone, and its status with it
	}
	if err == nil {
		c.written.Note(stored.Meta())
	}
	return err
}
