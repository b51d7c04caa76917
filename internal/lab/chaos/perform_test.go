package chaos

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"orrery/examples/secondparty"
	"orrery/informer"
	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

// perform carries out a step. Work that takes time continues in the background.
func (w *world) perform(s Step) {
	switch s.What {
	case Put, Delete, Recreate, Release, CreateNamespace, DeleteNamespace:
		w.write(s)
	case Fault:
		if _, err := w.current().Faults().Add(s.Text); err != nil {
			w.fail("%v", err) // the plan is wrong
		}
	case Restart:
		w.under.Go(func() { w.restart(s) })
	case Reborn:
		w.under.Go(func() { w.reborn(s) })
	case Join, Leave:
		w.changeHandlers(s)
	default:
		for _, p := range w.running() {
			if p.plan.Name == s.On {
				w.breakLink(p.link, s)
			}
		}
	}
}

// running returns the current processes.
func (w *world) running() []*process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.processes)
}

// reborn ends a process and starts one like it.
func (w *world) reborn(s Step) {
	for i, p := range w.running() {
		if p.plan.Name != s.On || !p.begin() {
			continue
		}
		if s.Text == "killed" { // nothing that it sends arrives
			p.link.Refuse(true)
			p.link.Cut()
			if p.managed != nil {
				p.managed.kill()
			}
		}
		p.stop()
		time.Sleep(s.For)
		next, err := newProcess(w, p.plan)
		if err != nil {
			w.fail("%s could not be started again: %v", s.On, err)
			return
		}
		next.start()
		w.mu.Lock()
		w.processes[i], w.retired = next, append(w.retired, p)
		w.mu.Unlock()
	}
}

// breakLink applies a step to a link.
func (w *world) breakLink(l *Link, s Step) {
	switch s.What {
	case Cut:
		l.Cut()
	case HalfClose:
		l.HalfClose()
	case LinkHealed:
		setFault(l, Action(s.Text), false, 0, 0)
	case Slow:
		jitter := 0
		if s.Text != "" {
			jitter = s.N
		}
		setFault(l, s.What, true, s.N, jitter)
	default:
		setFault(l, s.What, true, s.N, 0)
	}
}

// setFault begins or ends one fault of a link. Other faults that began since then continue. The
// meaning of n depends on the fault; 0 ends it.
func setFault(l *Link, what Action, on bool, n, jitter int) {
	switch what {
	case BlackHole:
		directions := [][]Direction{nil, {Sent}, {Received}}[n]
		l.BlackHole(on, directions...)
	case Stall:
		l.Stall(on)
	case Refuse:
		l.Refuse(on)
	case Slow:
		l.Delay(time.Duration(n)*time.Millisecond, time.Duration(jitter)*time.Millisecond)
	case Drip:
		l.Drip(n)
	case CutAfter:
		if !on {
			n = -1
		}
		l.CutAfter(int64(n))
	case Corrupt:
		l.Corrupt(int64(n))
	}
}

// changeHandlers lets a handler join an informer, or leave it.
func (w *world) changeHandlers(s Step) {
	for _, p := range w.running() {
		one := p.subjectNamed(s.On)
		if one == nil {
			continue
		}
		var err error
		if s.What == Join {
			err = one.join(drawHandler(diceOf(w.plan.Seed, "late handler", s.On, s.At.String())))
		} else {
			err = one.leave(s.N)
		}
		if err != nil && !errors.Is(err, informer.ErrStopped) {
			w.fail("%s %s: %v", s.What, s.On, err)
		}
	}
}

// hold is a finalizer that delays the deletion of objects for a while.
const hold = "chaos.orrery/hold"

// write applies a step to an object. Writes that the server refuses are skipped; the journal has
// the result.
func (w *world) write(s Step) {
	ctx := context.Background()
	parts := strings.Split(s.On, "/") // resource/namespace/name
	if parts[0] == builds {
		w.store(parts[1], parts[2])
		return
	}
	if _, ok := w.current().Catalog().Lookup(w.resource(parts[0])); !ok {
		return // a custom resource whose type does not exist now
	}
	t := w.target(parts[0], parts[1], parts[2])
	r := w.registry()
	switch s.What {
	case Put, CreateNamespace:
		if _, err := r.Get(t, api.GetOptions{}); err == nil {
			w.change(t, s)
			return
		}
		_, _ = r.Create(ctx, t, w.newObject(parts, s), writer)
	case Delete, DeleteNamespace:
		_, _, _ = r.Delete(ctx, t, api.DeleteOptions{PropagationPolicy: api.DeletePropagation(s.Text)}, writer)
	case Recreate:
		now := int64(0)
		_, _, _ = r.Delete(ctx, t, api.DeleteOptions{GracePeriodSeconds: &now}, writer)
		_, _ = r.Create(ctx, t, w.newObject(parts, s), writer)
	case Release:
		w.release(t)
	}
}

// change writes a new state of an existing object.
func (w *world) change(t registry.Target, s Step) {
	_, _ = w.registry().Patch(context.Background(), t, func(current *api.Unstructured) (*api.Unstructured, error) {
		w.shape(current, t.Definition.Plural, s)
		return current, decorate(current, s)
	}, writer)
}

// release removes our finalizer from the object.
func (w *world) release(t registry.Target) {
	ctx := context.Background()
	_, _ = w.registry().Patch(ctx, t, func(current *api.Unstructured) (*api.Unstructured, error) {
		return current, current.SetNested(withoutHold(current.GetFinalizers()), "metadata", "finalizers")
	}, writer)
	if t.Definition.Plural != "namespaces" {
		return
	}
	current, err := w.registry().Get(t, api.GetOptions{})
	if err != nil {
		return
	}
	namespace := current.Decode()
	finalizers := namespace.NestedStringSlice("spec", "finalizers")
	if !slices.Contains(finalizers, hold) || namespace.SetNested(withoutHold(finalizers), "spec", "finalizers") != nil {
		return
	}
	t.Subresource = "finalize"
	_, _ = w.registry().Update(ctx, t, namespace, writer)
}

func withoutHold(finalizers []string) []any {
	left := []any{}
	for _, finalizer := range finalizers {
		if finalizer != hold {
			left = append(left, finalizer)
		}
	}
	return left
}

// newObject makes an object of resource, namespace and name.
func (w *world) newObject(parts []string, s Step) *api.Unstructured {
	if parts[0] == customResources {
		return machineDefinition()
	}
	metadata := map[string]any{"name": parts[2]}
	o := &api.Unstructured{Object: map[string]any{"metadata": metadata}}
	if parts[1] != "" {
		metadata["namespace"] = parts[1]
	}
	switch s.Text {
	case "held":
		metadata["finalizers"] = []any{hold}
	case "held-in-spec":
		_ = o.SetNested([]any{hold}, "spec", "finalizers") // there is no spec yet
	case "second-party":
		_ = o.SetNested([]any{secondparty.Token}, "spec", "finalizers")
	}
	if parts[0] == "pods" {
		o.Object["spec"] = map[string]any{
			"terminationGracePeriodSeconds": int64(s.N % 40),
			"containers":                    []any{map[string]any{"name": "c", "image": "i"}},
		}
	}
	w.shape(o, parts[0], s)
	_ = decorate(o, s) // the maps are our own
	return o
}

// decorate applies a step's fields to an object and adds a unique value.
func decorate(o *api.Unstructured, s Step) error {
	labels := map[string]any{}
	for name, value := range o.GetLabels() {
		if name != "tier" {
			labels[name] = value
		}
	}
	labels["value"] = strconv.Itoa(s.N)
	if tier, found := strings.CutPrefix(s.Text, "tier="); found {
		labels["tier"] = tier
	}
	if s.Text == "large" {
		if err := o.SetNested(map[string]any{"filling": strings.Repeat("x", 3000)}, "metadata",
			"annotations"); err != nil {
			return err
		}
	}
	return o.SetNested(labels, "metadata", "labels")
}
