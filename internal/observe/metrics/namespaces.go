package metrics

import (
	"context"
	"errors"
	"strings"
	"time"

	"orrery/internal/observe/metrics/exposition"
	"orrery/nsctl"
	"orrery/restclient/api"
	"orrery/wait"
)

// namespaces are the metrics of the deletion of namespaces.
type namespaces struct {
	inProgress *sum
	deleted    *exposition.Counter
	duration   *exposition.Histogram
	phases     *children[nsctl.Phase, *exposition.Histogram]

	results       *exposition.Vec[exposition.Counter]
	stuck         *exposition.Counter
	passes        *passes
	conflicts     *exposition.Counter
	finalizations *exposition.Vec[exposition.Counter]
	reports       *exposition.Counter
	discoveries   *exposition.Counter
	types         *exposition.Vec[exposition.Counter]
}

func newNamespaces(registry *exposition.Registry) namespaces {
	counter := func(d *Definition) *exposition.Counter { return registry.Counters(d.desc()).With() }
	histogram := func(d *Definition) *exposition.Histogram { return registry.Histograms(d.desc()).With() }
	phases := registry.Histograms(deletionPhase.desc())
	n := namespaces{
		inProgress: newSum(registry, deletionsInProgress),
		deleted:    counter(deletionsTotal),
		duration:   histogram(deletionDuration),
		phases: newChildren(func(phase nsctl.Phase) *exposition.Histogram {
			return phases.With(string(phase))
		}),
		results:       registry.Counters(passesTotal.desc()),
		stuck:         counter(passesStuck),
		passes:        newPasses(histogram(passRequests)),
		conflicts:     counter(conflictsTotal),
		finalizations: registry.Counters(finalizationsTotal.desc()),
		reports:       counter(reportFailures),
		discoveries:   counter(discoveryFailures),
		types:         registry.Counters(typeFailures.desc()),
	}
	for _, result := range passResults {
		n.results.With(result)
	}
	for _, result := range []string{success, failure} {
		n.finalizations.With(result)
	}
	return n
}

const (
	success = "success"
	failure = "failure"
)

// The ways in which passes end.
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
	case errors.Is(err, context.Canceled):
		return passCutShort
	}
	return passFailed
}

// Deleting has the metrics show how many namespaces are in deletion.
func (m *Metrics) Deleting(count func() int) {
	m.namespaces.inProgress.add(func() float64 { return float64(count()) })
}

// Namespaces returns hooks for a namespace controller and its deleter.
func (m *Metrics) Namespaces() *nsctl.Trace {
	n := &m.namespaces
	return &nsctl.Trace{
		PassContext: n.passes.begin,
		Discovered: func(_ string, _ int, err error) {
			if err != nil {
				n.discoveries.Inc()
			}
		},
		TypeDeleted: func(_ string, resource api.GroupVersionResource, _ int, err error) {
			if err != nil {
				n.types.With(resourceLabel(resource)).Inc()
			}
		},
		Conflict:         func(string, error) { n.conflicts.Inc() },
		ConditionsFailed: func(string, error) { n.reports.Inc() },
		Finalized: func(_ string, err error) {
			result := success
			if err != nil && !api.IsNotFound(err) {
				result = failure
			}
			n.finalizations.With(result).Inc()
		},
		PhaseDone: func(_ string, phase nsctl.Phase, took time.Duration) { n.phases.of(phase).Observe(took.Seconds()) },
		PassStuck: func(_ string, running time.Duration, _ int) {
			if running <= nsctl.StuckAfter { // it is told again and again
				n.stuck.Inc()
			}
		},
		PassDone: func(namespace string, _ time.Duration, _ int, err error) {
			n.results.With(passResult(err)).Inc()
			n.passes.end(namespace)
		},
		Gone: func(_ string, took time.Duration) {
			n.deleted.Inc()
			n.duration.Observe(took.Seconds())
		},
	}
}

// resourceLabel is a resource as kubectl calls it: pods, deployments.apps.
func resourceLabel(resource api.GroupVersionResource) string {
	return strings.TrimSuffix(resource.Resource+"."+resource.Group, ".")
}
