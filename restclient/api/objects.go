package api

import (
	"maps"
	"slices"
	"time"
)

// EventsResource are the Events of the core group.
var EventsResource = GroupVersionResource{Version: "v1", Resource: "events"}

// EventType is the severity of an [Event].
type EventType string

// The types of Events.
const (
	EventNormal  EventType = "Normal"
	EventWarning EventType = "Warning"
)

// Event is a report about an object, which the API server keeps for an hour or so and kubectl shows
// (core/v1 Event). Repetitions are counted in the existing Event.
type Event struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`

	// InvolvedObject is the subject of the Event. An Event is in the namespace of its object, or in
	// "default" if the object has none, such as a Namespace.
	InvolvedObject ObjectReference `json:"involvedObject"`

	Type    EventType `json:"type,omitempty"`
	Reason  string    `json:"reason,omitempty"`  // one word for programs: NamespaceDeleted
	Message string    `json:"message,omitempty"` // a sentence for people

	Source         EventSource `json:"source,omitzero"`
	FirstTimestamp Time        `json:"firstTimestamp,omitzero"`
	LastTimestamp  Time        `json:"lastTimestamp,omitzero"`
	Count          int         `json:"count,omitempty"`

	// EventTime is set in Events of the newer API (events.k8s.io), and zero in counted ones.
	EventTime Time `json:"eventTime"`
	// ReportingController and ReportingInstance identify the reporter in the newer API. Their JSON
	// names differ.
	ReportingController string `json:"reportingComponent"`
	ReportingInstance   string `json:"reportingInstance"`
}

// EventSource is the program that reported an Event, and its machine or instance.
type EventSource struct {
	Component string `json:"component,omitempty"`
	Host      string `json:"host,omitempty"`
}

// ObjectReference names an object, or a part of it.
type ObjectReference struct {
	Kind            string `json:"kind,omitempty"`
	Namespace       string `json:"namespace,omitempty"`
	Name            string `json:"name,omitempty"`
	UID             string `json:"uid,omitempty"`
	APIVersion      string `json:"apiVersion,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	FieldPath       string `json:"fieldPath,omitempty"`
}

// Reference returns a reference to the object of this metadata, for an Event. An object that was
// read from a list does not say its kind and API version.
func (m *ObjectMeta) Reference(kind, apiVersion string) ObjectReference {
	return ObjectReference{
		Kind: kind, APIVersion: apiVersion, Namespace: m.Namespace, Name: m.Name,
		UID: m.UID, ResourceVersion: m.ResourceVersion,
	}
}

// Lease is a claim that its holder must renew in time. Leader election and the heartbeats of nodes
// use Leases.
//
// Writing a Lease back preserves fields of a newer API that it does not declare, as in [Namespace].
type Lease struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       LeaseSpec `json:"spec"`

	unknown *unknownFields
}

// LeaseSpec is written by the holder. All fields are optional; nil and empty ones are omitted.
type LeaseSpec struct {
	HolderIdentity string `json:"holderIdentity,omitempty"` // empty: there is no holder
	// LeaseDurationSeconds is how long after a change of RenewTime others must not take the Lease.
	// They measure it with their own clocks, from when they saw the change.
	LeaseDurationSeconds *int32 `json:"leaseDurationSeconds,omitempty"`
	// AcquireTime is when the holder acquired the Lease, RenewTime when it last renewed it, both by
	// its own clock.
	AcquireTime      *MicroTime `json:"acquireTime,omitempty"`
	RenewTime        *MicroTime `json:"renewTime,omitempty"`
	LeaseTransitions *int32     `json:"leaseTransitions,omitempty"` // changes of the holder
	// Strategy and PreferredHolder belong to coordinated leader election (KEP-4355) and are
	// preserved.
	Strategy        *string `json:"strategy,omitempty"`
	PreferredHolder *string `json:"preferredHolder,omitempty"`
}

// plainLease is Lease without its methods, for encoding/json.
type plainLease Lease

// UnmarshalJSON reads a Lease and preserves unknown fields.
func (l *Lease) UnmarshalJSON(data []byte) error {
	return decodeKeeping(data, (*plainLease)(l), &l.unknown)
}

// MarshalJSON writes the Lease with its unknown fields.
func (l Lease) MarshalJSON() ([]byte, error) {
	return l.unknown.encode(plainLease(l))
}

// DeepCopy returns a copy that shares no mutable data.
func (l *Lease) DeepCopy() *Lease {
	out := *l
	out.ObjectMeta = l.ObjectMeta.DeepCopy()
	out.Spec.LeaseDurationSeconds = clonePointer(l.Spec.LeaseDurationSeconds)
	out.Spec.AcquireTime = clonePointer(l.Spec.AcquireTime)
	out.Spec.RenewTime = clonePointer(l.Spec.RenewTime)
	out.Spec.LeaseTransitions = clonePointer(l.Spec.LeaseTransitions)
	out.Spec.Strategy = clonePointer(l.Spec.Strategy)
	out.Spec.PreferredHolder = clonePointer(l.Spec.PreferredHolder)
	return &out
}

// MicroTime is a moment as Kubernetes writes it where seconds are too coarse: RFC 3339 in UTC with
// exactly six digits after the point, `null` for the zero value. Any number of digits is accepted
// when reading.
type MicroTime struct{ time.Time }

const microTimeLayout = "2006-01-02T15:04:05.000000Z07:00"

// NewMicroTime returns t as an API time, cut to what can be written.
func NewMicroTime(t time.Time) MicroTime { return MicroTime{Time: t.Truncate(time.Microsecond)} }

func (t MicroTime) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.UTC().Format(microTimeLayout) + `"`), nil
}

func (t *MicroTime) UnmarshalJSON(data []byte) error {
	var seconds Time
	if err := seconds.UnmarshalJSON(data); err != nil {
		return err
	}
	t.Time = seconds.Time
	return nil
}

// Pod is a group of containers on one node.
//
// Writing a Pod back preserves all fields that it does not declare, as in [Namespace].
type Pod struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       PodSpec   `json:"spec"`
	Status     PodStatus `json:"status"`

	unknown *unknownFields
}

// plainPod is Pod without its methods, for encoding/json.
type plainPod Pod

// UnmarshalJSON reads a Pod and preserves unknown fields.
func (p *Pod) UnmarshalJSON(data []byte) error {
	return decodeKeeping(data, (*plainPod)(p), &p.unknown)
}

// MarshalJSON writes the Pod with its unknown fields.
func (p Pod) MarshalJSON() ([]byte, error) { return p.unknown.encode(plainPod(p)) }

// DeepCopy returns a copy that shares no mutable data.
func (p *Pod) DeepCopy() *Pod {
	out := *p
	out.ObjectMeta = p.ObjectMeta.DeepCopy()
	out.Spec.TerminationGracePeriodSeconds = clonePointer(p.Spec.TerminationGracePeriodSeconds)
	return &out
}

// PodSpec is the part of a pod's specification that this project uses.
type PodSpec struct {
	// TerminationGracePeriodSeconds is how long the pod may take to end; nil is the server's
	// default (30).
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
	NodeName                      string `json:"nodeName,omitempty"`
}

// PodStatus is the part of a pod's status that this project uses.
type PodStatus struct {
	Phase PodPhase `json:"phase,omitempty"`
}

// PodPhase is the coarse state of a pod.
type PodPhase string

// The phases of a pod. Succeeded and Failed are final.
const (
	PodPending   PodPhase = "Pending"
	PodRunning   PodPhase = "Running"
	PodSucceeded PodPhase = "Succeeded"
	PodFailed    PodPhase = "Failed"
	PodUnknown   PodPhase = "Unknown"
)

// ConfigMap holds data for programs, by key.
//
// Writing a ConfigMap back preserves fields of a newer API that it does not declare, as in
// [Namespace].
type ConfigMap struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	// Data has texts, and BinaryData other bytes. The two share no key.
	Data       map[string]string `json:"data,omitempty"`
	BinaryData map[string][]byte `json:"binaryData,omitempty"`
	// Immutable: if true, the server refuses changes of the data.
	Immutable *bool `json:"immutable,omitempty"`

	unknown *unknownFields
}

// plainConfigMap is ConfigMap without its methods, for encoding/json.
type plainConfigMap ConfigMap

// UnmarshalJSON reads a ConfigMap and preserves unknown fields.
func (c *ConfigMap) UnmarshalJSON(data []byte) error {
	return decodeKeeping(data, (*plainConfigMap)(c), &c.unknown)
}

// MarshalJSON writes the ConfigMap with its unknown fields.
func (c ConfigMap) MarshalJSON() ([]byte, error) {
	return c.unknown.encode(plainConfigMap(c))
}

// DeepCopy returns a copy that shares no mutable data.
func (c *ConfigMap) DeepCopy() *ConfigMap {
	out := *c
	out.ObjectMeta = c.ObjectMeta.DeepCopy()
	out.Data = maps.Clone(c.Data)
	out.BinaryData = cloneBytes(c.BinaryData)
	out.Immutable = clonePointer(c.Immutable)
	return &out
}

// cloneBytes returns a deep copy.
func cloneBytes(data map[string][]byte) map[string][]byte {
	if data == nil {
		return nil
	}
	out := make(map[string][]byte, len(data))
	for key, value := range data {
		out[key] = slices.Clone(value)
	}
	return out
}

// SecretsResource are the Secrets.
var SecretsResource = GroupVersionResource{Version: "v1", Resource: "secrets"}

// Secret holds data that must not be shown, by key.
//
// Writing a Secret back preserves fields of a newer API that it does not declare, as in
// [Namespace].
type Secret struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	// Type says what the data is for, "Opaque" for anything. The server refuses changes of it.
	Type string `json:"type,omitempty"`
	// Data has the bytes. On the wire they are base64.
	Data map[string][]byte `json:"data,omitempty"`
	// Immutable: if true, the server refuses changes of the data.
	Immutable *bool `json:"immutable,omitempty"`

	unknown *unknownFields
}

// plainSecret is Secret without its methods, for encoding/json.
type plainSecret Secret

// UnmarshalJSON reads a Secret and preserves unknown fields.
func (s *Secret) UnmarshalJSON(data []byte) error {
	return decodeKeeping(data, (*plainSecret)(s), &s.unknown)
}

// MarshalJSON writes the Secret with its unknown fields.
func (s Secret) MarshalJSON() ([]byte, error) { return s.unknown.encode(plainSecret(s)) }

// DeepCopy returns a copy that shares no mutable data.
func (s *Secret) DeepCopy() *Secret {
	out := *s
	out.ObjectMeta = s.ObjectMeta.DeepCopy()
	out.Data = cloneBytes(s.Data)
	out.Immutable = clonePointer(s.Immutable)
	return &out
}

// DeploymentsResource and ReplicaSetsResource are the Deployments and the ReplicaSets.
var (
	DeploymentsResource = GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	ReplicaSetsResource = GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
)

// Deployment asks for identical pods, which are replaced step by step when their template changes.
//
// Writing a Deployment back preserves all fields that it does not declare, such as the template, as
// in [Namespace].
type Deployment struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       ReplicasSpec   `json:"spec"`
	Status     ReplicasStatus `json:"status"`

	unknown *unknownFields
}

// plainDeployment is Deployment without its methods, for encoding/json.
type plainDeployment Deployment

// UnmarshalJSON reads a Deployment and preserves unknown fields.
func (d *Deployment) UnmarshalJSON(data []byte) error {
	return decodeKeeping(data, (*plainDeployment)(d), &d.unknown)
}

// MarshalJSON writes the Deployment with its unknown fields.
func (d Deployment) MarshalJSON() ([]byte, error) { return d.unknown.encode(plainDeployment(d)) }

// DeepCopy returns a copy that shares no mutable data.
func (d *Deployment) DeepCopy() *Deployment {
	out := *d
	out.ObjectMeta = d.ObjectMeta.DeepCopy()
	out.Spec.Replicas = clonePointer(d.Spec.Replicas)
	return &out
}

// ReplicaSet asks for a number of identical pods. Writing it back preserves all fields that it does
// not declare, as in [Deployment].
type ReplicaSet struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       ReplicasSpec   `json:"spec"`
	Status     ReplicasStatus `json:"status"`

	unknown *unknownFields
}

// plainReplicaSet is ReplicaSet without its methods, for encoding/json.
type plainReplicaSet ReplicaSet

// UnmarshalJSON reads a ReplicaSet and preserves unknown fields.
func (s *ReplicaSet) UnmarshalJSON(data []byte) error {
	return decodeKeeping(data, (*plainReplicaSet)(s), &s.unknown)
}

// MarshalJSON writes the ReplicaSet with its unknown fields.
func (s ReplicaSet) MarshalJSON() ([]byte, error) { return s.unknown.encode(plainReplicaSet(s)) }

// DeepCopy returns a copy that shares no mutable data.
func (s *ReplicaSet) DeepCopy() *ReplicaSet {
	out := *s
	out.ObjectMeta = s.ObjectMeta.DeepCopy()
	out.Spec.Replicas = clonePointer(s.Spec.Replicas)
	return &out
}

// ReplicasSpec is how many pods are asked for; nil is the server's default, 1.
type ReplicasSpec struct {
	Replicas *int32 `json:"replicas,omitempty"`
}

// ReplicasStatus counts the pods that there are.
type ReplicasStatus struct {
	// ObservedGeneration is the metadata.generation that the counts are about.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	Replicas           int32 `json:"replicas,omitempty"`
	ReadyReplicas      int32 `json:"readyReplicas,omitempty"`
	AvailableReplicas  int32 `json:"availableReplicas,omitempty"`
}
