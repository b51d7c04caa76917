package api

import "reflect"

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

var leaseSchema = schemaOf(reflect.TypeFor[plainLease]())

// UnmarshalJSON reads a Lease and preserves unknown fields.
func (l *Lease) UnmarshalJSON(data []byte) error {
	var plain plainLease
	unknown, err := leaseSchema.decode(data, &plain)
	if err == nil {
		*l = Lease(plain)
		l.unknown = unknown
	}
	return err
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

// Pod has the fields that determine how long a pod takes to end: its grace period and its phase. It
// is read-only: writing it back would drop all other fields.
type Pod struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       PodSpec   `json:"spec"`
	Status     PodStatus `json:"status"`
}

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

var configMapSchema = schemaOf(reflect.TypeFor[plainConfigMap]())

// UnmarshalJSON reads a ConfigMap and preserves unknown fields.
func (c *ConfigMap) UnmarshalJSON(data []byte) error {
	var plain plainConfigMap
	unknown, err := configMapSchema.decode(data, &plain)
	if err == nil {
		*c = ConfigMap(plain)
		c.unknown = unknown
	}
	return err
}

// MarshalJSON writes the ConfigMap with its unknown fields.
func (c ConfigMap) MarshalJSON() ([]byte, error) {
	return c.unknown.encode(plainConfigMap(c))
}
