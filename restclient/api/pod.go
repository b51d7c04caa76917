package api

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
