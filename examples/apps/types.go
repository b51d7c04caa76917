package apps

import (
	"encoding/json"
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
	Phase             api.PodPhase      `json:"phase,omitempty"`
	Conditions        []Condition       `json:"conditions,omitempty"`
	ContainerStatuses []ContainerStatus `json:"containerStatuses,omitempty"`
}

// ContainerStatus is the status of one container.
type ContainerStatus struct {
	RestartCount int `json:"restartCount"`
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
