package chaos

import (
	"fmt"
	"slices"

	"orrery/internal/lab/apiserver/store"
	"orrery/restclient/api"
)

// violations returns what can never be right again.
func (w *world) violations() []string {
	w.mu.Lock()
	wrong := slices.Clone(w.wrong)
	w.mu.Unlock()
	wrong = append(wrong, w.journal.early()...)
	for _, p := range w.everybody() {
		for _, s := range p.subjects {
			wrong = append(wrong, s.violations()...)
		}
		if p.holders != nil {
			wrong = append(wrong, p.holders.violations()...)
		}
	}
	return wrong
}

// everybody are the processes that run, and those that have.
func (w *world) everybody() []*process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append(slices.Clone(w.retired), w.processes...)
}

// differences returns what is not, or not yet, as the server has it, and what is still on its way.
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
				wrong = append(wrong, fmt.Sprintf("%s: in passes: %v, queued: %v", p.plan.Name, shot.Active, shot.Queue.Queued))
			}
		}
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

// unfinished returns which deletions are not over, and what the controller still remembers of those that are.
func (w *world) unfinished() []string {
	var wrong []string
	for _, resource := range []string{"namespaces", "configmaps", "pods", "widgets"} {
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
			wrong = append(wrong, fmt.Sprintf("%s: %d keys are delayed in the queue, and there is nothing left to do", p.plan.Name, len(delayed)))
		}
		if keys := p.holders.remembered(); len(keys) > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: the rate limiter remembers failures of %v", p.plan.Name, keys))
		}
	}
	return wrong
}

// releaseAll takes our finalizer away from everything, so that all deletions can come to their end.
func (w *world) releaseAll() {
	for _, resource := range []string{"configmaps", "pods", "widgets", "namespaces"} {
		w.each(resource, func(o *store.Object) { w.release(w.target(resource, o.Key.Namespace, o.Key.Name)) })
	}
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

// remains returns what processes have left open that have ended.
func (w *world) remains() []string {
	wrong := w.violations()
	for _, p := range w.everybody() {
		if open := p.link.Snapshot().Open; open > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %d connections are open", p.plan.Name, open))
		}
		if shot := p.client.Snapshot(); shot.InFlight != 0 || shot.Watches != 0 {
			wrong = append(wrong, fmt.Sprintf("%s: the client counts %d requests and %d watches", p.plan.Name, shot.InFlight, shot.Watches))
		}
	}
	if shot := w.current().Snapshot(); shot.InFlight != 0 || shot.Watches != 0 {
		wrong = append(wrong, fmt.Sprintf("the server counts %d requests and %d watches", shot.InFlight, shot.Watches))
	}
	return wrong
}
