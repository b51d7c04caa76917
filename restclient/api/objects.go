package api

import (
	"maps"
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
// Writing a Lease back preserves all fields that it does not declare, such as those of coordinated
// leader election (KEP-4355), as in [Namespace].
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
// Writing a ConfigMap back preserves all fields that it does not declare, such as binaryData, as in
// [Namespace].
type ConfigMap struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Data       map[string]string `json:"data,omitempty"`

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
	return &out
}
