package metrics

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"orrery/controller"
	"orrery/controller/leaderelection"
	"orrery/nsctl"
	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
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

// passResult returns the result of a pass of any controller.
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
	case errors.Is(err, controller.ErrPassTimeout):
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

// Namespaces returns hooks for a namespace controller and its deleter. Join them behind those of a
// log: they read the name of a pass from the context.
func (m *Metrics) Namespaces() *nsctl.Trace {
	return &nsctl.Trace{
		PassContext: m.passes.begin,
		Discovered: func(_ string, _ int, err error) {
			if err != nil {
				m.counter(discoveryFailures).Inc()
			}
		},
		TypeDeleted: func(_ string, resource api.GroupVersionResource, _ int, err error) {
			failures := m.counter(typeFailures, resource.TypeName()) // 0 for a type that has not failed
			if err != nil {
				failures.Inc()
			}
		},
		Conflict:         func(string, error) { m.counter(conflictsTotal).Inc() },
		ConditionsFailed: func(string, error) { m.counter(reportFailures).Inc() },
		Finalized: func(_ string, err error) {
			result := "success"
			if err != nil && !api.IsNotFound(err) {
				result = "failure"
			}
			m.counter(finalizationsTotal, result).Inc()
		},
		PhaseDone: func(_ string, phase nsctl.Phase, took time.Duration) {
			m.histogram(deletionPhase, string(phase)).Observe(took.Seconds())
		},
		PassStuck: func(_ string, running time.Duration, _ int) {
			if running <= controller.StuckAfter { // the hook is called again and again
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

// passes counts the requests of each pass in progress, by the origin of the requests.
type passes struct {
	requests prometheus.Observer

	mu       sync.Mutex        // guards the fields below, with at most one entry for each worker
	origins  map[string]string // by namespace
	underway map[string]int    // requests, by origin
}

func newPasses(requests prometheus.Observer) *passes {
	return &passes{requests: requests, origins: map[string]string{}, underway: map[string]int{}}
}

// begin is nsctl.Trace.PassContext. It counts the passes that the log has named before.
func (p *passes) begin(ctx context.Context, namespace string) context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	if origin := restclient.OriginOf(ctx); origin != "" {
		p.origins[namespace] = origin
		p.underway[origin] = 0
	}
	return ctx
}

// requested counts a request, if it belongs to a pass in progress.
func (p *passes) requested(origin string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if requests, ok := p.underway[origin]; ok {
		p.underway[origin] = requests + 1
	}
}

func (p *passes) end(namespace string) {
	p.mu.Lock()
	origin := p.origins[namespace]
	requests, ok := p.underway[origin]
	delete(p.origins, namespace)
	delete(p.underway, origin)
	p.mu.Unlock()
	if ok {
		p.requests.Observe(float64(requests))
	}
}
