package api

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
