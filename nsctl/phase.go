package nsctl

import "time"

// Phase is a part of what the deletion of a namespace takes. What they take adds up to the time from the moment in which
// the deletion was seen to the end of the last pass, but for microseconds between them.
type Phase string

// The phases, in the order in which a deletion goes through them. All but the first come again with each pass.
const (
	// PhaseGrace: from the moment in which the deletion was seen until a worker took it up: the grace period, and the wait
	// for a worker.
	PhaseGrace Phase = "grace"
	// PhaseWaiting: between two passes, because content needed time or the pass before had failed.
	PhaseWaiting Phase = "waiting"
	// PhaseReading: the namespace is read from the server. The discovery has begun meanwhile.
	PhaseReading Phase = "reading"
	// PhaseDiscovery: waiting for the resource types.
	PhaseDiscovery Phase = "discovery"
	// PhaseSurvey: waiting to learn which types have no content in any namespace in deletion.
	PhaseSurvey Phase = "survey"
	// PhasePods: deleting pods and looking at what is left of them. Nothing else goes on meanwhile.
	PhasePods Phase = "pods"
	// PhaseContent: deleting all else, type beside type.
	PhaseContent Phase = "content"
	// PhaseReport: writing conditions and phase of the namespace.
	PhaseReport Phase = "report"
	// PhaseFinalization: removing this controller's token, or the namespace that has none.
	PhaseFinalization Phase = "finalization"
)

// Phases returns all phases in their order.
func Phases() []Phase {
	return []Phase{PhaseGrace, PhaseWaiting, PhaseReading, PhaseDiscovery, PhaseSurvey, PhasePods, PhaseContent, PhaseReport, PhaseFinalization}
}

// phase begins one, and returns what ends it.
func (t *Trace) phase(namespace string, phase Phase) (end func()) {
	if t == nil || t.PhaseDone == nil {
		return func() {}
	}
	began := time.Now()
	return func() { t.PhaseDone(namespace, phase, time.Since(began)) }
}

func (t *Trace) phaseDone(namespace string, phase Phase, took time.Duration) {
	if t != nil && t.PhaseDone != nil {
		t.PhaseDone(namespace, phase, took)
	}
}

func (t *Trace) gone(namespace string, took time.Duration) {
	if t != nil && t.Gone != nil {
		t.Gone(namespace, took)
	}
}
