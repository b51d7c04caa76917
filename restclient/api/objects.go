package api

import "reflect"

// EventsResource are the Events of the core group.
var EventsResource = GroupVersionResource{Version: "v1", Resource: "events"}

// EventType says whether an [Event] is about trouble.
type EventType string

// The types of Events.
const (
	EventNormal  EventType = "Normal"
	EventWarning EventType = "Warning"
)

// Event is a note about an object, kept by the API server for an hour or so, and shown by kubectl (core/v1 Event).
// What happens again is counted in the Event that is there.
type Event struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`

	// InvolvedObject is what the Event is about. An Event stands in the namespace of its object; one about an object
	// that has none, such as a Namespace, in "default".
	InvolvedObject ObjectReference `json:"involvedObject"`

	Type    EventType `json:"type,omitempty"`
	Reason  string    `json:"reason,omitempty"`  // one word for programs: NamespaceDeleted
	Message string    `json:"message,omitempty"` // a sentence for people

	Source         EventSource `json:"source,omitzero"`
	FirstTimestamp Time        `json:"firstTimestamp,omitzero"`
	LastTimestamp  Time        `json:"lastTimestamp,omitzero"`
	Count          int         `json:"count,omitempty"`

	// EventTime is of Events that are written in the newer way (events.k8s.io); the zero value for those that are counted.
	EventTime Time `json:"eventTime"`
	// ReportingController and ReportingInstance name the reporter in the newer way. Their names on the wire differ.
	ReportingController string `json:"reportingComponent"`
	ReportingInstance   string `json:"reportingInstance"`
}

// EventSource is the program that noted something, and the machine or instance that it ran as.
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

// Lease says who holds something, and until when he has to say so again. Leader election and the heartbeats of nodes
// are made of Leases.
//
// It is written back as a whole. Fields of a newer API that it does not declare are carried along, as in [Namespace].
type Lease struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       LeaseSpec `json:"spec"`

	unknown unknownFields
}

// LeaseSpec is what a holder writes. All fields are optional to the server; nil and empty ones are not sent.
type LeaseSpec struct {
	// HolderIdentity names the holder of the Lease; empty: there is none.
	HolderIdentity string `json:"holderIdentity,omitempty"`
	// LeaseDurationSeconds is how long others leave a holder alone after RenewTime moved. They measure it with their own
	// clocks, from when they saw it move.
	LeaseDurationSeconds *int32 `json:"leaseDurationSeconds,omitempty"`
	// AcquireTime is when the holder became the holder, RenewTime when it last said that it still is, both by its own clock.
	AcquireTime *MicroTime `json:"acquireTime,omitempty"`
	RenewTime   *MicroTime `json:"renewTime,omitempty"`
	// LeaseTransitions counts the changes of the holder.
	LeaseTransitions *int32 `json:"leaseTransitions,omitempty"`
	// Strategy and PreferredHolder belong to coordinated leader election (KEP-4355) and are carried along.
	Strategy        *string `json:"strategy,omitempty"`
	PreferredHolder *string `json:"preferredHolder,omitempty"`
}

// plainLease is Lease without its methods, for encoding/json.
type plainLease Lease

var leaseSchema = schemaOf(reflect.TypeFor[plainLease]())

// UnmarshalJSON reads a Lease and keeps what it does not know.
func (l *Lease) UnmarshalJSON(data []byte) error {
	var plain plainLease
	unknown, err := leaseSchema.decode(data, &plain)
	if err == nil {
		*l = Lease(plain)
		l.unknown = unknown
	}
	return err
}

// MarshalJSON writes the Lease with what it did not know when it was read.
func (l Lease) MarshalJSON() ([]byte, error) {
	return l.unknown.encode(plainLease(l))
}

// DeepCopy returns a copy that shares nothing that can be changed.
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

// Pod is as much of a pod as decides how long it takes to end: its grace period and its phase.
// It is read-only here: writing it back would drop everything else that a pod has.
type Pod struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
	Spec       PodSpec   `json:"spec"`
	Status     PodStatus `json:"status"`
}

// DeepCopy returns a copy that shares nothing that can be changed.
func (p *Pod) DeepCopy() *Pod {
	out := *p
	out.ObjectMeta = p.ObjectMeta.DeepCopy()
	out.Spec.TerminationGracePeriodSeconds = clonePointer(p.Spec.TerminationGracePeriodSeconds)
	return &out
}

// PodSpec is the part of a pod's specification that this project reads.
type PodSpec struct {
	// TerminationGracePeriodSeconds is how long the pod may take to end; nil is the server's default (30).
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
	NodeName                      string `json:"nodeName,omitempty"`
}

// PodStatus is the part of a pod's status that this project reads.
type PodStatus struct {
	Phase PodPhase `json:"phase,omitempty"`
}

// PodPhase is the coarse state of a pod.
type PodPhase string

// The phases of a pod. Succeeded and Failed are final: nothing runs any more.
const (
	PodPending   PodPhase = "Pending"
	PodRunning   PodPhase = "Running"
	PodSucceeded PodPhase = "Succeeded"
	PodFailed    PodPhase = "Failed"
	PodUnknown   PodPhase = "Unknown"
)
