package chaos

import (
	"fmt"
	"slices"

	"orrery/examples/virtualmachine"
	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// violations returns errors that can never be corrected.
func (w *world) violations() []string {
	w.mu.Lock()
	wrong := slices.Clone(w.wrong)
	w.mu.Unlock()
	wrong = append(wrong, w.journal.early()...)
	for _, p := range w.allProcesses() {
		for _, s := range p.subjects {
			wrong = append(wrong, s.violations()...)
		}
		if p.holders != nil {
			wrong = append(wrong, p.holders.violations()...)
		}
	}
	return wrong
}

// allProcesses returns all processes, running and stopped.
func (w *world) allProcesses() []*process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append(slices.Clone(w.retired), w.processes...)
}

// differences returns everything that does not match the server yet, or is still in flight.
func (w *world) differences() []string {
	var wrong []string
	server := w.current().Store()
	for _, p := range w.running() {
		for _, s := range p.subjects {
			wrong = append(wrong, s.differences(server, w.definition(s.plan().Resource))...)
		}
		if p.control != nil {
			shot := p.control.Snapshot()
			if len(shot.Active)+len(shot.Queue.Queued)+len(shot.Queue.Processing) > 0 {
				wrong = append(wrong, fmt.Sprintf("%s: in passes: %v, queued: %v", p.plan.Name, shot.Active,
					shot.Queue.Queued))
			}
		}
	}
	if w.plan.AllControllers {
		wrong = append(wrong, w.controllersDiffer()...)
	}
	return wrong
}

// contents compares every field of every store.
func (w *world) contents() []string {
	var wrong []string
	for _, p := range w.running() {
		for _, s := range p.subjects {
			wrong = append(wrong, s.contents(w.current().Store(), w.definition(s.plan().Resource))...)
		}
	}
	return wrong
}

// unfinished returns the deletions that have not ended, and what the controller still remembers of
// those that have.
func (w *world) unfinished() []string {
	var wrong []string
	for _, resource := range w.written() {
		w.each(resource, func(o *store.Object) {
			if o.Deleting {
				wrong = append(wrong, fmt.Sprintf("%s/%s is still being deleted: %s", resource, o.Key, o.Body()))
			}
		})
	}
	for _, p := range w.running() {
		if p.control == nil {
			continue
		}
		if delayed := p.control.Snapshot().Queue.Delayed; len(delayed) > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %d keys are delayed in the queue, and there is nothing left to do",
				p.plan.Name, len(delayed)))
		}
		if keys := p.holders.remembered(); len(keys) > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: the rate limiter remembers failures of %v", p.plan.Name, keys))
		}
	}
	return wrong
}

// releaseAll removes our finalizer from all objects, so that all deletions can end.
func (w *world) releaseAll() {
	for _, resource := range w.written() {
		w.each(resource, func(o *store.Object) { w.release(w.target(resource, o.Key.Namespace, o.Key.Name)) })
	}
}

// written returns the resources that the steps of a plan write.
func (w *world) written() []string {
	resources := []string{"configmaps", "pods", "widgets", "namespaces"}
	if w.plan.AllControllers {
		resources = append(resources, "deployments", "replicasets")
		if _, ok := w.current().Catalog().Lookup(virtualmachine.Resource); ok {
			resources = append(resources, "virtualmachines")
		}
	}
	return resources
}

func (w *world) each(resource string, do func(*store.Object)) {
	page, err := w.registry().List(w.target(resource, "", ""), api.ListOptions{})
	if err != nil {
		w.fail("listing %s: %v", resource, err)
		return
	}
	for _, o := range page.Items {
		do(o)
	}
}

// remains returns what stopped processes have left open.
func (w *world) remains() []string {
	wrong := w.violations()
	for _, p := range w.allProcesses() {
		if open := p.link.Snapshot().Open; open > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %d connections are open", p.plan.Name, open))
		}
		if shot := p.client.Snapshot(); shot.InFlight != 0 || shot.Watches != 0 {
			wrong = append(wrong, fmt.Sprintf("%s: the client counts %d requests and %d watches", p.plan.Name,
				shot.InFlight, shot.Watches))
		}
	}
	if shot := w.current().Snapshot(); shot.InFlight != 0 || shot.Watches != 0 {
		wrong = append(wrong, fmt.Sprintf("the server counts %d requests and %d watches", shot.InFlight, shot.Watches))
	}
	return wrong
}
