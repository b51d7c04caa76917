package metrics

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// namespaces are the metrics of the deletion of namespaces.
type namespaces struct {
	inProgress *sum
	deleted    prometheus.Counter
	duration   prometheus.Histogram
	phases     *children[nsctl.Phase, prometheus.Observer]

	results       *prometheus.CounterVec
	stuck         prometheus.Counter
	passes        *passes
	conflicts     prometheus.Counter
	finalizations *prometheus.CounterVec
	reports       prometheus.Counter
	discoveries   prometheus.Counter
	types         *prometheus.CounterVec
}

func newNamespaces(registry *prometheus.Registry) namespaces {
	counter := func(d *Definition) prometheus.Counter { return register(registry, d.counters()).WithLabelValues() }
	histogram := func(d *Definition) prometheus.Histogram {
		return register(registry, prometheus.NewHistogram(prometheus.HistogramOpts{Name: d.Name, Help: d.Help, Buckets: d.Buckets}))
	}
	phases := register(registry, deletionPhase.histograms())
	n := namespaces{
		inProgress: register(registry, newSum(deletionsInProgress)),
		deleted:    counter(deletionsTotal),
		duration:   histogram(deletionDuration),
		phases: newChildren(func(phase nsctl.Phase) prometheus.Observer {
			return phases.WithLabelValues(string(phase))
		}),
		results:       register(registry, passesTotal.counters()),
		stuck:         counter(passesStuck),
		passes:        newPasses(histogram(passRequests)),
		conflicts:     counter(conflictsTotal),
		finalizations: register(registry, finalizationsTotal.counters()),
		reports:       counter(reportFailures),
		discoveries:   counter(discoveryFailures),
		types:         register(registry, typeFailures.counters()),
	}
	for _, result := range passResults {
		n.results.WithLabelValues(result)
	}
	for _, result := range []string{success, failure} {
		n.finalizations.WithLabelValues(result)
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
	var panicked *nsctl.PanicError
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
				n.types.WithLabelValues(resourceLabel(resource)).Inc()
			}
		},
		Conflict:         func(string, error) { n.conflicts.Inc() },
		ConditionsFailed: func(string, error) { n.reports.Inc() },
		Finalized: func(_ string, err error) {
			result := success
			if err != nil && !api.IsNotFound(err) {
				result = failure
			}
			n.finalizations.WithLabelValues(result).Inc()
		},
		PhaseDone: func(_ string, phase nsctl.Phase, took time.Duration) { n.phases.of(phase).Observe(took.Seconds()) },
		PassStuck: func(_ string, running time.Duration, _ int) {
			if running <= nsctl.StuckAfter { // it is told again and again
				n.stuck.Inc()
			}
		},
		PassDone: func(namespace string, _ time.Duration, _ int, err error) {
			n.results.WithLabelValues(passResult(err)).Inc()
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
