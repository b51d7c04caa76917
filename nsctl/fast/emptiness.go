package fast

import (
	"context"
	"sync"
	"time"

	"orrery/nsctl"
	"orrery/restclient/api"
)

// emptinessChecker finds out, for many namespaces at once, which types they hold nothing of.
//
// A hundred namespaces with thirty types take three thousand requests, most of them answered
// "nothing". One cluster-wide list of a type gives that answer for all namespaces. It is a proof
// for the same reason as the empty answer to deleting a collection: it is a consistent read, and it
// began when nothing could be created in the namespace any more. So a check counts for the
// namespaces that had settled before it began, for as long as they exist.
//
// It is a proof only where one server answers for all namespaces, from one storage. An aggregated
// API server owns its answers: its list may be filtered, or merged from parts. So a check covers
// kube-apiserver's own groups, and no other.
//
// A check costs a request per type, so it is made only when several passes are under way. It asks
// for one page of each type. A type that does not fit on the page, or cannot be listed, is unknown,
// and is listed in each namespace.
type emptinessChecker struct {
	content     nsctl.ContentClient
	concurrency int
	trace       *nsctl.Trace

	mu     sync.Mutex
	passes int             // under way
	latest *emptinessCheck // nil when no pass is
}

// emptinessCheck is the result of a check. A nil one proves nothing.
type emptinessCheck struct {
	begun time.Time     // by our own clock
	done  chan struct{} // closed when holders is complete

	mu sync.Mutex // guards holders until done is closed
	// holders are the namespaces that hold something of a type, for each type whose whole list was
	// seen.
	holders map[api.GroupVersionResource]map[string]bool
}

// passesForACheck is how many passes must be under way. A check saves each of them a request for
// nearly every type: it pays from three passes on.
const passesForACheck = 3

// enter marks the start of a pass and leave its end. The last leave drops the result.
func (c *emptinessChecker) enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passes++
}

func (c *emptinessChecker) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.passes--; c.passes == 0 {
		c.latest = nil
	}
}

// check returns a result that counts for a namespace that settled at that moment, or nil if a check
// does not pay. Passes that ask at the same time share one.
func (c *emptinessChecker) check(ctx context.Context, resources []nsctl.DeletableResource,
	settled time.Time) *emptinessCheck {
	c.mu.Lock()
	latest := c.latest
	if latest != nil && !latest.begun.Before(settled) {
		c.mu.Unlock()
		return latest.wait(ctx)
	}
	if c.passes < passesForACheck {
		c.mu.Unlock()
		return nil
	}
	latest = &emptinessCheck{begun: time.Now(), done: make(chan struct{}),
		holders: map[api.GroupVersionResource]map[string]bool{}}
	c.latest = latest
	c.mu.Unlock()

	c.run(ctx, latest, resources)
	return latest
}

// builtInGroups are the groups with namespaced types that kube-apiserver itself serves. It refuses
// to leave them to another server.
var builtInGroups = map[string]bool{
	"": true, "apps": true, "autoscaling": true, "batch": true, "policy": true,
	"certificates.k8s.io": true, "coordination.k8s.io": true, "discovery.k8s.io": true, "events.k8s.io": true,
	"networking.k8s.io": true, "rbac.authorization.k8s.io": true, "resource.k8s.io": true,
	"scheduling.k8s.io": true, "storage.k8s.io": true,
}

// run lists the types. If ctx ends early, the result covers fewer types but stays correct.
func (c *emptinessChecker) run(ctx context.Context, check *emptinessCheck, resources []nsctl.DeletableResource) {
	defer close(check.done)
	// All passes wait for the check, their pods too: a type whose server hangs must not hold them up.
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	var builtIn []nsctl.DeletableResource
	for _, resource := range resources {
		if resource.CanList && builtInGroups[resource.GVR.Group] {
			builtIn = append(builtIn, resource)
		}
	}
	nsctl.Parallelize(len(builtIn), c.concurrency, func(i int) {
		holders, complete, err := c.content.Holders(ctx, builtIn[i].GVR)
		if err != nil || !complete {
			return
		}
		check.mu.Lock()
		defer check.mu.Unlock()
		check.holders[builtIn[i].GVR] = holders
	})
	c.trace.EmptinessChecked(ctx, len(builtIn), len(check.holders), time.Since(check.begun))
}

// wait blocks until the result is complete. It returns nil if the context ends first.
func (check *emptinessCheck) wait(ctx context.Context) *emptinessCheck {
	select {
	case <-check.done:
		return check
	case <-ctx.Done():
		return nil
	}
}

// provesEmpty reports whether the namespace certainly holds nothing of the type.
func (check *emptinessCheck) provesEmpty(gvr api.GroupVersionResource, namespace string) bool {
	if check == nil {
		return false
	}
	holders, known := check.holders[gvr]
	return known && !holders[namespace]
}
