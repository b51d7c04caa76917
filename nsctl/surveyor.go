package nsctl

import (
	"context"
	"sync"
	"time"

	"orrery/restclient/api"
)

// surveyor finds out, for many namespaces at once, which types they hold nothing of.
//
// To ask each of a hundred namespaces for each of thirty types takes three thousand requests, most of them answered
// "nothing". One list of a type over all namespaces tells the same of that type for all of them. What makes it a proof
// is what makes the empty answer to deleting a collection one: the list is a consistent read, and it began when
// nothing could be created in the namespace any more. So a survey counts for the namespaces that were settled before it
// began, and for as long as they exist: what was empty then stays empty. It relies on nothing that a garbage collector or
// an informer of all namespaces does not rely on.
//
// A survey costs a request for each type, so it is worth it only when several passes are under way. It asks for one page
// of each type, and does not wait long. A type that does not fit onto that, that cannot be listed, or whose server is
// slow, is not known, and is dealt with as if there were no survey.
type surveyor struct {
	content     ContentClient
	concurrency int
	trace       *Trace

	mu     sync.Mutex // guards what follows
	passes int        // under way
	latest *survey    // nil when no pass is
}

// survey is what was found. The zero of *survey, nil, proves nothing.
type survey struct {
	begun time.Time     // by our own clock
	done  chan struct{} // closed when holders is complete

	mu sync.Mutex // guards holders until done
	// holders are the namespaces that hold something of a type, for each type that was seen as a whole.
	holders map[api.GroupVersionResource]map[string]bool
}

// worthASurvey is how many passes must be under way. A survey saves each of them a request for nearly every type, so
// with three of them it has paid off.
const worthASurvey = 3

// surveyPatience is how long a survey takes at most. All passes wait for it, their pods too, and one aggregated API whose
// server hangs must not keep these running.
const surveyPatience = 3 * time.Second

func newSurveyor(content ContentClient, concurrency int, trace *Trace) *surveyor {
	return &surveyor{content: content, concurrency: concurrency, trace: trace}
}

// enter and leave enclose a pass. What was found is dropped with the last of them.
func (s *surveyor) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passes++
}

func (s *surveyor) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.passes--; s.passes == 0 {
		s.latest = nil
	}
}

// survey returns one that counts for a namespace that was settled at that moment, or nil if that is not worth it. Passes
// that ask at the same time share one.
func (s *surveyor) survey(ctx context.Context, resources []deletableResource, settled time.Time) *survey {
	s.mu.Lock()
	latest := s.latest
	if latest != nil && !latest.begun.Before(settled) {
		s.mu.Unlock()
		return latest.wait(ctx)
	}
	if s.passes < worthASurvey {
		s.mu.Unlock()
		return nil
	}
	latest = &survey{begun: time.Now(), done: make(chan struct{}), holders: map[api.GroupVersionResource]map[string]bool{}}
	s.latest = latest
	s.mu.Unlock()

	s.run(ctx, latest, resources)
	return latest
}

// run lists the types. If the pass that it runs for is cut short the survey knows less, and is as true.
func (s *surveyor) run(ctx context.Context, v *survey, resources []deletableResource) {
	defer close(v.done)
	ctx, cancel := context.WithTimeout(ctx, surveyPatience)
	defer cancel()
	sideBySide(len(resources), s.concurrency, func(i int) {
		if !resources[i].canList {
			return
		}
		holders, complete, err := s.content.Holders(ctx, resources[i].gvr)
		if err != nil || !complete {
			return
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		v.holders[resources[i].gvr] = holders
	})
	s.trace.surveyed(ctx, len(resources), len(v.holders), time.Since(v.begun))
}

// wait returns the survey when it is complete, or nil if the context ends before.
func (v *survey) wait(ctx context.Context) *survey {
	select {
	case <-v.done:
		return v
	case <-ctx.Done():
		return nil
	}
}

// provesEmpty tells whether the namespace certainly holds nothing of the type.
func (v *survey) provesEmpty(gvr api.GroupVersionResource, namespace string) bool {
	if v == nil {
		return false
	}
	holders, known := v.holders[gvr]
	return known && !holders[namespace]
}
