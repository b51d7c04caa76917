package apps

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"orrery/restclient/api"
)

// progressing is the condition that shows the progress of a rollout.
const progressing = "Progressing"

// The reasons of progressing that the controller reads again. kubectl rollout status fails at
// reasonTimedOut.
const (
	reasonComplete = "NewReplicaSetAvailable"
	reasonTimedOut = "ProgressDeadlineExceeded"
	reasonUpdated  = "ReplicaSetUpdated"
	reasonPaused   = "DeploymentPaused"
)

// counts returns the numbers of the status.
func (p *pass) counts() DeploymentStatus {
	ready := func(set *ReplicaSet) int { return set.Status.ReadyReplicas }
	there := func(set *ReplicaSet) int { return set.Status.Replicas }
	status := DeploymentStatus{
		Replicas:            sum(p.sets, there),
		ReadyReplicas:       sum(p.sets, ready),
		AvailableReplicas:   sum(p.sets, available),
		UnavailableReplicas: max(0, sum(p.sets, wanted)-sum(p.sets, available)),
		ObservedGeneration:  p.deployment.Generation,
		Conditions:          p.deployment.Status.Conditions,
	}
	if p.current != nil {
		status.UpdatedReplicas = p.current.Status.Replicas
	}
	return status
}

// complete reports whether all pods are new and available.
func (p *pass) complete() bool {
	status, replicas := p.counts(), p.deployment.Spec.Replicas
	return p.current != nil && status.Replicas == replicas && status.UpdatedReplicas == replicas &&
		status.AvailableReplicas == replicas
}

// report writes the status if it has changed. It returns the time left until the deadline of the
// rollout, 0 if there is none.
func (p *pass) report(ctx context.Context) (after time.Duration, err error) {
	d, now := p.deployment, time.Now()
	status := p.counts()
	status.Conditions = p.conditions(status, now)
	number := revision(&d.ObjectMeta)
	if p.current != nil {
		number = revision(&p.current.ObjectMeta)
	}
	if !reflect.DeepEqual(status, d.Status) || number != revision(&d.ObjectMeta) {
		change := Change{Annotations: map[string]string{revisionAnnotation: strconv.Itoa(number)}, Status: status}
		_, err = Apply(ctx, p.deployments.Client(d.Namespace), d, change, "status")
		if api.IsNotFound(err) { // a deployment that is gone needs no report
			err = nil
		}
	}
	rollout := FindCondition(status.Conditions, progressing)
	if rollout == nil || d.Spec.Paused || rollout.Reason == reasonComplete || rollout.Reason == reasonTimedOut {
		return 0, err
	}
	return max(time.Second, p.deadline(rollout).Sub(now)), err
}

func (p *pass) deadline(rollout *Condition) time.Time {
	return rollout.LastUpdateTime.Add(time.Duration(*p.deployment.Spec.ProgressDeadlineSeconds) * time.Second)
}

func (p *pass) conditions(status DeploymentStatus, now time.Time) []Condition {
	available := NewCondition("Available", api.ConditionFalse, "MinimumReplicasUnavailable",
		"Deployment does not have minimum availability.")
	if status.AvailableReplicas >= p.deployment.Spec.Replicas-p.deployment.MaxUnavailable() {
		available = NewCondition("Available", api.ConditionTrue, "MinimumReplicasAvailable",
			"Deployment has minimum availability.")
	}
	conditions := WithCondition(status.Conditions, available)

	if p.deployment.Spec.ProgressDeadlineSeconds == nil {
		conditions = WithoutCondition(conditions, progressing)
		// any progress extends the deadline
	} else if holds, reason, message := p.progress(status, now); reason == reasonUpdated {
		conditions = WithRenewedCondition(conditions, NewCondition(progressing, holds, reason, message))
	} else if reason != "" {
		conditions = WithCondition(conditions, NewCondition(progressing, holds, reason, message))
	}

	for i := len(p.sets) - 1; i >= 0; i-- { // the newest set that could not create its pods
		if failure := FindCondition(p.sets[i].Status.Conditions, ReplicaFailure); failure != nil {
			reported := NewCondition(ReplicaFailure, failure.Status, failure.Reason, failure.Message)
			return WithCondition(conditions, reported)
		}
	}
	return WithoutCondition(conditions, ReplicaFailure)
}

// progress returns the new content of the condition Progressing. An empty reason leaves it as it
// is.
func (p *pass) progress(status DeploymentStatus, now time.Time) (holds api.ConditionStatus, reason, message string) {
	before := p.deployment.Status
	known := cmp.Or(FindCondition(before.Conditions, progressing), &Condition{})
	progressed := status.UpdatedReplicas > before.UpdatedReplicas || status.ReadyReplicas > before.ReadyReplicas ||
		status.AvailableReplicas > before.AvailableReplicas ||
		status.Replicas-status.UpdatedReplicas < before.Replicas-before.UpdatedReplicas
	switch {
	case p.deployment.Spec.Paused && known.Reason != reasonTimedOut:
		return api.ConditionUnknown, reasonPaused, "Deployment is paused"
	case p.deployment.Spec.Paused:
	case known.Reason == reasonPaused:
		return api.ConditionUnknown, "DeploymentResumed", "Deployment is resumed"
	case p.createErr != nil:
		return api.ConditionFalse, "ReplicaSetCreateError", p.createErr.Error()
	case p.current == nil: // waiting for old pods to end
	case p.created:
		return api.ConditionTrue, "NewReplicaSetCreated", fmt.Sprintf("Created new replica set %q", p.current.Name)
	// a pod that fails later does not fail the rollout
	case known.Reason == reasonComplete && status.Replicas == status.UpdatedReplicas:
	case p.complete():
		return api.ConditionTrue, reasonComplete,
			fmt.Sprintf("ReplicaSet %q has successfully progressed.", p.current.Name)
	case progressed:
		return api.ConditionTrue, reasonUpdated, fmt.Sprintf("ReplicaSet %q is progressing.", p.current.Name)
	case known.Reason == "":
		return api.ConditionTrue, "FoundNewReplicaSet", fmt.Sprintf("Found new replica set %q", p.current.Name)
	case known.Reason != reasonComplete && p.deadline(known).Before(now):
		return api.ConditionFalse, reasonTimedOut,
			fmt.Sprintf("ReplicaSet %q has timed out progressing.", p.current.Name)
	}
	return "", "", ""
}
