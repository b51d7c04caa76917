package apps

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orrery/restclient/api"
)

// Pod has the fields of a pod that the controllers read.
type Pod struct {
	api.TypeMeta   `json:",inline"`
	api.ObjectMeta `json:"metadata"`
	Spec           PodSpec   `json:"spec"`
	Status         PodStatus `json:"status"`
}

// Meta returns the head of the object.
func (p *Pod) Meta() *api.ObjectMeta { return &p.ObjectMeta }

// PodSpec is the specification of a pod.
type PodSpec struct {
	NodeName string `json:"nodeName,omitempty"`
	// Whole is the complete specification of a pod to create. It is written and never read.
	Whole json.RawMessage `json:"-"`
}

// MarshalJSON writes Whole.
func (s PodSpec) MarshalJSON() ([]byte, error) { return s.Whole.MarshalJSON() }

// PodStatus is the status that the kubelet reports.
type PodStatus struct {
	Phase      api.PodPhase `json:"phase,omitempty"`
	Conditions []Condition  `json:"conditions,omitempty"`
}

// IsActive reports whether the pod counts as a replica: it has not ended, and is not being deleted.
func (p *Pod) IsActive() bool {
	return p.DeletionTimestamp == nil && p.Status.Phase != api.PodSucceeded && p.Status.Phase != api.PodFailed
}

// IsReady reports whether the pod is ready, and since when.
func (p *Pod) IsReady() (since time.Time, ready bool) {
	condition := FindCondition(p.Status.Conditions, "Ready")
	if condition == nil || condition.Status != api.ConditionTrue {
		return time.Time{}, false
	}
	return condition.LastTransitionTime.Time, true
}

// AvailableIn returns how long a ready pod must stay ready until it counts as available, 0 if it
// does now.
func (p *Pod) AvailableIn(minReady time.Duration, now time.Time) (wait time.Duration, ready bool) {
	since, ready := p.IsReady()
	return max(0, since.Add(minReady).Sub(now)), ready
}

// ReplicaSetsResource are the replica sets.
var ReplicaSetsResource = api.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}

// ReplicaSetKind is the kind in owner references to a ReplicaSet.
const ReplicaSetKind = "ReplicaSet"

// GroupVersion is the apiVersion of the types here except pods.
const GroupVersion = "apps/v1"

// ReplicaSet asks for a number of identical pods.
type ReplicaSet struct {
	api.TypeMeta   `json:",inline"`
	api.ObjectMeta `json:"metadata"`
	Spec           ReplicaSetSpec   `json:"spec"`
	Status         ReplicaSetStatus `json:"status"`
}

// Meta returns the head of the object.
func (s *ReplicaSet) Meta() *api.ObjectMeta { return &s.ObjectMeta }

// Owner returns the set as the owner of its pods.
func (s *ReplicaSet) Owner() Owner { return Owner{ReplicaSetKind, &s.ObjectMeta, s.Spec.Selector} }

// ReplicaSetSpec is the desired state. The server sets a default for Replicas.
type ReplicaSetSpec struct {
	Replicas        int           `json:"replicas"`
	MinReadySeconds int           `json:"minReadySeconds,omitempty"`
	Selector        LabelSelector `json:"selector"`
	Template        PodTemplate   `json:"template"`
}

// ReplicaSetStatus is the observed state. It is always written as a whole, zeros included.
type ReplicaSetStatus struct {
	Replicas             int         `json:"replicas"`
	FullyLabeledReplicas int         `json:"fullyLabeledReplicas"`
	ReadyReplicas        int         `json:"readyReplicas"`
	AvailableReplicas    int         `json:"availableReplicas"`
	ObservedGeneration   int64       `json:"observedGeneration"`
	Conditions           []Condition `json:"conditions"`
}

// ReplicaFailure is the condition of a set, and of a deployment, whose pods could not be created or
// deleted.
const ReplicaFailure = "ReplicaFailure"

// DeploymentsResource are the deployments.
var DeploymentsResource = api.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}

// DeploymentKind is the kind of a Deployment, as owner references have it.
const DeploymentKind = "Deployment"

// Deployment asks for a number of identical pods, which are replaced step by step when their
// template changes.
type Deployment struct {
	api.TypeMeta   `json:",inline"`
	api.ObjectMeta `json:"metadata"`
	Spec           DeploymentSpec   `json:"spec"`
	Status         DeploymentStatus `json:"status"`
}

// Meta returns the head of the object.
func (d *Deployment) Meta() *api.ObjectMeta { return &d.ObjectMeta }

// Owner returns the deployment as the owner of its replica sets.
func (d *Deployment) Owner() Owner { return Owner{DeploymentKind, &d.ObjectMeta, d.Spec.Selector} }

// DeploymentSpec is the desired state. The server sets defaults for missing fields.
type DeploymentSpec struct {
	Replicas                int           `json:"replicas"`
	MinReadySeconds         int           `json:"minReadySeconds,omitempty"`
	RevisionHistoryLimit    *int          `json:"revisionHistoryLimit,omitempty"`
	ProgressDeadlineSeconds *int          `json:"progressDeadlineSeconds,omitempty"`
	Paused                  bool          `json:"paused,omitempty"`
	Selector                LabelSelector `json:"selector"`
	Strategy                Strategy      `json:"strategy"`
	Template                PodTemplate   `json:"template"`
}

// The strategies: pods are replaced step by step, or all of them end before the first new one
// starts.
const (
	RollingUpdate = "RollingUpdate"
	Recreate      = "Recreate"
)

// Strategy says how pods are replaced.
type Strategy struct {
	Type          string `json:"type"`
	RollingUpdate struct {
		MaxSurge       NumberOrPercent `json:"maxSurge"`
		MaxUnavailable NumberOrPercent `json:"maxUnavailable"`
	} `json:"rollingUpdate"`
}

// NumberOrPercent is a number of pods, or a share of spec.replicas such as "25%".
type NumberOrPercent struct {
	number  int
	percent bool
}

// UnmarshalJSON reads a number or a string.
func (n *NumberOrPercent) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		*n = NumberOrPercent{}
		return json.Unmarshal(data, &n.number)
	}
	digits, percent := strings.CutSuffix(text, "%")
	number, err := strconv.Atoi(digits)
	if err != nil || !percent {
		return fmt.Errorf("%q is not a percentage", text)
	}
	*n = NumberOrPercent{number, true}
	return nil
}

// Of returns how many of total pods that is. A share is rounded up or down.
func (n NumberOrPercent) Of(total int, up bool) int {
	switch {
	case !n.percent:
		return n.number
	case up:
		return (n.number*total + 99) / 100
	default:
		return n.number * total / 100
	}
}

// MaxSurge returns how many pods there may be above spec.replicas.
func (d *Deployment) MaxSurge() int {
	if d.Spec.Strategy.Type != RollingUpdate {
		return 0
	}
	return d.Spec.Strategy.RollingUpdate.MaxSurge.Of(d.Spec.Replicas, true)
}

// MaxUnavailable returns how many pods below spec.replicas may be available. If MaxSurge is 0 it is
// at least 1, since a rollout could take no step otherwise.
func (d *Deployment) MaxUnavailable() int {
	if d.Spec.Strategy.Type != RollingUpdate || d.Spec.Replicas == 0 {
		return 0
	}
	unavailable := d.Spec.Strategy.RollingUpdate.MaxUnavailable.Of(d.Spec.Replicas, false)
	if unavailable == 0 && d.MaxSurge() == 0 {
		unavailable = 1
	}
	return min(unavailable, d.Spec.Replicas)
}

// DeploymentStatus is the observed state. It is always written as a whole, zeros included.
type DeploymentStatus struct {
	Replicas            int         `json:"replicas"`
	UpdatedReplicas     int         `json:"updatedReplicas"`
	ReadyReplicas       int         `json:"readyReplicas"`
	AvailableReplicas   int         `json:"availableReplicas"`
	UnavailableReplicas int         `json:"unavailableReplicas"`
	ObservedGeneration  int64       `json:"observedGeneration"`
	Conditions          []Condition `json:"conditions"`
}

// Condition is a condition of an object's status. Only deployments have LastUpdateTime.
type Condition struct {
	Type               string              `json:"type"`
	Status             api.ConditionStatus `json:"status"`
	LastUpdateTime     api.Time            `json:"lastUpdateTime,omitzero"`
	LastTransitionTime api.Time            `json:"lastTransitionTime,omitzero"`
	Reason             string              `json:"reason,omitempty"`
	Message            string              `json:"message,omitempty"`
}

// FindCondition returns the condition of that type, or nil.
func FindCondition(conditions []Condition, kind string) *Condition {
	at := slices.IndexFunc(conditions, func(c Condition) bool { return c.Type == kind })
	if at < 0 {
		return nil
	}
	return &conditions[at]
}

// WithoutCondition returns the conditions except the one of a type.
func WithoutCondition(conditions []Condition, kind string) []Condition {
	var others []Condition
	for _, condition := range conditions {
		if condition.Type != kind {
			others = append(others, condition)
		}
	}
	return others
}

// NewCondition returns a new condition with the present time.
func NewCondition(kind string, status api.ConditionStatus, reason, message string) Condition {
	now := api.NewTime(time.Now())
	return Condition{Type: kind, Status: status, Reason: reason, Message: message, LastUpdateTime: now,
		LastTransitionTime: now}
}

// WithCondition returns the conditions with a new one that replaces the one of its type. If the old
// one has the same status and reason it stays, so that a report without news changes nothing.
func WithCondition(conditions []Condition, condition Condition) []Condition {
	known := FindCondition(conditions, condition.Type)
	if known != nil && known.Status == condition.Status && known.Reason == condition.Reason {
		return conditions
	}
	return WithRenewedCondition(conditions, condition)
}

// WithRenewedCondition is [WithCondition] that replaces the old condition even if status and reason
// are the same.
func WithRenewedCondition(conditions []Condition, condition Condition) []Condition {
	if known := FindCondition(conditions, condition.Type); known != nil && known.Status == condition.Status {
		condition.LastTransitionTime = known.LastTransitionTime
	}
	return append(WithoutCondition(conditions, condition.Type), condition)
}
