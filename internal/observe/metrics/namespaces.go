package metrics

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"orrery/internal/leaderelection"
	"orrery/nsctl"
	"orrery/restclient/api"
	"orrery/wait"
)

const (
	success = "success"
	failure = "failure"
)

// The results of passes.
const (
	passDone      = "done"
	passRemaining = "remaining"
	passFailed    = "failed"
	passPanicked  = "panicked"
	passTimedOut  = "timed_out"
	passCutShort  = "cut_short"
)

var passResults = []string{passDone, passRemaining, passFailed, passPanicked, passTimedOut, passCutShort}

func passResult(err error) string {
	var remaining *nsctl.ResourcesRemainingError
	var panicked *wait.Panic
	switch {
	case err == nil:
		return passDone
	case errors.As(err, &remaining):
		return passRemaining
	case errors.As(err, &panicked):
		return passPanicked
	case errors.Is(err, nsctl.ErrPassTimeout):
		return passTimedOut
	case errors.Is(err, context.Canceled), leaderelection.IsLost(err):
		return passCutShort
	}
	return passFailed
}

// Deleting shows how many namespaces are terminating, and for how long the oldest of them has been.
func (m *Metrics) Deleting(count func() int, oldest func() time.Duration) {
	m.read(func(put putFunc) {
		put(deletionsInProgress, float64(count()))
		put(oldestDeletion, oldest().Seconds())
	})
}

// PassedOver has the metrics show how many terminating namespaces are left alone.
func (m *Metrics) PassedOver(count func() int) {
	m.read(func(put putFunc) { put(namespacesPassedOver, float64(count())) })
}

// Namespaces returns hooks for a namespace controller and its deleter.
func (m *Metrics) Namespaces() *nsctl.Trace {
	phases := newChildren(func(phase nsctl.Phase) prometheus.Observer {
		return m.histogram(deletionPhase, string(phase))
	})
	return &nsctl.Trace{
		PassContext: m.passes.begin,
		Discovered: func(_ string, _ int, err error) {
			if err != nil {
				m.counter(discoveryFailures).Inc()
			}
		},
		TypeDeleted: func(_ string, resource api.GroupVersionResource, _ int, err error) {
			failures := m.counter(typeFailures, resourceLabel(resource)) // 0 for a type that has not failed
			if err != nil {
				failures.Inc()
			}
		},
		Conflict:         func(string, error) { m.counter(conflictsTotal).Inc() },
		ConditionsFailed: func(string, error) { m.counter(reportFailures).Inc() },
		Finalized: func(_ string, err error) {
			result := success
			if err != nil && !api.IsNotFound(err) {
				result = failure
			}
			m.counter(finalizationsTotal, result).Inc()
		},
		PhaseDone: func(_ string, phase nsctl.Phase, took time.Duration) { phases.of(phase).Observe(took.Seconds()) },
		PassStuck: func(_ string, running time.Duration, _ int) {
			if running <= nsctl.StuckAfter { // the hook is called again and again
				m.counter(passesStuck).Inc()
			}
		},
		PassDone: func(namespace string, _ time.Duration, _ int, err error) {
			m.counter(passesTotal, passResult(err)).Inc()
			m.passes.end(namespace)
		},
		Gone: func(_ string, took time.Duration) {
			m.counter(deletionsTotal).Inc()
			m.histogram(deletionDuration).Observe(took.Seconds())
		},
	}
}

// resourceLabel returns kubectl's name of a resource: pods, deployments.apps.
func resourceLabel(resource api.GroupVersionResource) string {
	return strings.TrimSuffix(resource.Resource+"."+resource.Group, ".")
}
