package api

import (
	"encoding/json"
	"reflect"
	"slices"
)

// Namespace is a scope for names and the unit that the namespace controller deletes.
//
// It is the one type here that is written back as a whole. Fields of a newer API that it does not declare (in the
// document, metadata, spec and status) are carried along, so that a status update does not erase them.
type Namespace struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       NamespaceSpec   `json:"spec"`
	Status     NamespaceStatus `json:"status"`

	unknown unknownFields
}

// plainNamespace is Namespace without its methods, for encoding/json.
type plainNamespace Namespace

var namespaceSchema = schemaOf(reflect.TypeFor[plainNamespace]())

// UnmarshalJSON reads a namespace and keeps what it does not know.
func (n *Namespace) UnmarshalJSON(data []byte) error {
	var plain plainNamespace
	if err := json.Unmarshal(data, &plain); err != nil {
		return err
	}
	unknown, err := namespaceSchema.collect(data)
	if err != nil {
		return err
	}
	*n = Namespace(plain)
	n.unknown = unknown
	return nil
}

// MarshalJSON writes the namespace with what it did not know when it was read.
func (n Namespace) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(plainNamespace(n))
	if err != nil {
		return nil, err
	}
	return n.unknown.merge(data)
}

// DeepCopy returns a copy that shares nothing that can be changed.
func (n *Namespace) DeepCopy() *Namespace {
	out := *n
	out.ObjectMeta = n.ObjectMeta.DeepCopy()
	out.Spec.Finalizers = slices.Clone(n.Spec.Finalizers)
	out.Status.Conditions = slices.Clone(n.Status.Conditions)
	return &out
}

// NamespaceSpec holds the tokens that keep a namespace from vanishing.
type NamespaceSpec struct {
	// Finalizers must be empty before the server removes the object. Each party removes its own token through
	// the finalize subresource; the controller of this project owns [FinalizerKubernetes].
	Finalizers []string `json:"finalizers,omitempty"`
}

// NamespaceStatus is what the controller reports.
type NamespaceStatus struct {
	Phase      NamespacePhase       `json:"phase,omitempty"`
	Conditions []NamespaceCondition `json:"conditions,omitempty"`
}

// NamespacePhase is the coarse state of a namespace.
type NamespacePhase string

// The two phases there are.
const (
	NamespaceActive      NamespacePhase = "Active"
	NamespaceTerminating NamespacePhase = "Terminating"
)

// FinalizerKubernetes is the token of the namespace controller itself in spec.finalizers.
const FinalizerKubernetes = "kubernetes"

// NamespaceConditionType names one aspect of a deletion.
type NamespaceConditionType string

// The conditions that the namespace controller writes while it deletes.
const (
	NamespaceDeletionDiscoveryFailure NamespaceConditionType = "NamespaceDeletionDiscoveryFailure"
	NamespaceDeletionGVParsingFailure NamespaceConditionType = "NamespaceDeletionGroupVersionParsingFailure"
	NamespaceDeletionContentFailure   NamespaceConditionType = "NamespaceDeletionContentFailure"
	NamespaceContentRemaining         NamespaceConditionType = "NamespaceContentRemaining"
	NamespaceFinalizersRemaining      NamespaceConditionType = "NamespaceFinalizersRemaining"
)

// NamespaceCondition is one observation about a deletion.
type NamespaceCondition struct {
	Type               NamespaceConditionType `json:"type"`
	Status             ConditionStatus        `json:"status"`
	LastTransitionTime Time                   `json:"lastTransitionTime,omitzero"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
}

// ConditionStatus says whether a condition holds.
type ConditionStatus string

// The three truth values of a condition.
const (
	ConditionTrue    ConditionStatus = "True"
	ConditionFalse   ConditionStatus = "False"
	ConditionUnknown ConditionStatus = "Unknown"
)
