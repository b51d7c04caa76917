package metrics

import (
	"context"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"orrery/restclient"
)

// passes counts the requests of each pass in progress, by the origin of the requests.
type passes struct {
	requests prometheus.Observer

	mu       sync.Mutex // guards the fields below, with at most one entry for each worker
	begun    uint64
	origins  map[string]string // by namespace
	underway map[string]int    // requests, by origin
}

func newPasses(requests prometheus.Observer) *passes {
	return &passes{requests: requests, origins: map[string]string{}, underway: map[string]int{}}
}

// begin is nsctl.Trace.PassContext. The log may have named the pass before.
func (p *passes) begin(ctx context.Context, namespace string) context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	origin := restclient.OriginOf(ctx)
	if origin == "" {
		p.begun++
		origin = "pass-" + strconv.FormatUint(p.begun, 10)
		ctx = restclient.WithOrigin(ctx, origin)
	}
	p.origins[namespace] = origin
	p.underway[origin] = 0
	return ctx
}

// requested counts a request, if it belongs to a pass in progress.
func (p *passes) requested(origin string) {
	if origin == "" {
		return
	}
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
