package apps

import "orrery/restclient/api"

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
