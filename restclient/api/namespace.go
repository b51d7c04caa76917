package api

import "slices"

// Namespace is a scope for names and the unit that the namespace controller deletes.
//
// It is written back as a whole. Fields of a newer API that it does not declare are preserved at
// every level, also those of a condition or an owner reference, so that a status update does not
// erase them.
type Namespace struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       NamespaceSpec   `json:"spec"`
	Status     NamespaceStatus `json:"status"`

	unknown *unknownFields
}

// plainNamespace is Namespace without its methods, for encoding/json.
type plainNamespace Namespace

// UnmarshalJSON decodes a namespace and preserves unknown fields.
func (n *Namespace) UnmarshalJSON(data []byte) error {
	return decodeKeeping(data, (*plainNamespace)(n), &n.unknown)
}

// MarshalJSON encodes the namespace with its unknown fields.
func (n Namespace) MarshalJSON() ([]byte, error) {
	return n.unknown.encode(plainNamespace(n))
}

// DeepCopy returns a copy that shares no mutable data.
func (n *Namespace) DeepCopy() *Namespace {
	out := *n
	out.ObjectMeta = n.ObjectMeta.DeepCopy()
	out.Spec.Finalizers = slices.Clone(n.Spec.Finalizers)
	out.Status.Conditions = slices.Clone(n.Status.Conditions)
	return &out
}

// NamespaceSpec has the tokens that delay the removal of a namespace.
type NamespaceSpec struct {
	// Finalizers must be empty before the server removes the object. Each party removes its own
	// token through the finalize subresource; the controller of this project owns
	// [FinalizerKubernetes].
	Finalizers []string `json:"finalizers,omitempty"`
}

// NamespaceStatus is the controller's report.
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
