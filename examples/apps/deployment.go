package apps

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"orrery/restclient/api"
)

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
	// CollisionCount is part of the hash in the names of replica sets. It is incremented when a
	// name is taken.
	CollisionCount int `json:"collisionCount,omitempty"`
}
