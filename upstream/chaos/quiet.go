package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"orrery/internal/lab/chaos/history"
)

// quiet waits until the system has converged, without faults and writers, and returns the
// violations.
func (r *run) quiet(ctx context.Context) ([]string, error) {
	r.writers.hold()
	defer r.writers.release()
	began := time.Now()
	if err := r.cluster.eventually(ctx, "the API server answers", func(ctx context.Context) error {
		_, err := r.cluster.client.Resource(namespaces).List(ctx, metav1.ListOptions{Limit: 1})
		return err
	}); err != nil {
		return nil, err
	}
	if err := r.cluster.define(ctx, gears); err != nil {
		return nil, err
	}
	if err := r.cluster.grant(ctx); err != nil {
		return nil, err
	}
	if err := r.cluster.clearAll(ctx); err != nil {
		return nil, err
	}
	for _, check := range []func(context.Context) ([]string, error){
		r.checkHeld, r.letGo, r.checkGone, r.checkContent, r.checkInformers, r.checkReplicas,
	} {
		if found, err := check(ctx); err != nil || len(found) > 0 {
			return found, err
		}
	}
	if found := r.violations(); len(found) > 0 {
		return found, nil
	}
	seen, _ := r.guard.found()
	events, tombstones := r.observers.counts()
	leaders := 0
	if r.shifts != nil {
		leaders, _ = r.shifts.found()
	}
	r.record("quiet after %.1f s: %d writes, %d namespaces finalized, %d leaders, %d events (%d tombstones), all equal",
		time.Since(began).Seconds(), r.writers.writes.Load(), seen, leaders, events, tombstones)
	for _, p := range r.replicas {
		r.record("%s: %s", p.name, p.usage())
	}
	return nil, nil
}

// converge repeats a check until it finds nothing or the time is over, and returns the last
// findings.
func (r *run) converge(ctx context.Context, check func(context.Context) ([]string, error)) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	var found []string
	for {
		now, err := check(ctx)
		switch {
		case err == nil && len(now) == 0:
			return nil, nil
		case err == nil:
			found = now
		case ctx.Err() == nil:
			found = []string{err.Error()}
		}
		if cpErr := r.cluster.Err(); cpErr != nil {
			return found, cpErr
		}
		pause(ctx, 200*time.Millisecond)
		if ctx.Err() != nil {
			return label(fmt.Sprintf("after %v of quiet: ", waitTimeout), found), nil
		}
	}
}

// checkHeld waits until every terminating namespace is held by a finalizer and says so.
func (r *run) checkHeld(ctx context.Context) ([]string, error) {
	return r.converge(ctx, func(ctx context.Context) (found []string, err error) {
		list, err := r.cluster.client.Resource(namespaces).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			namespace := &list.Items[i]
			if namespace.GetDeletionTimestamp() == nil {
				continue
			}
			problems, err := r.problemsOf(ctx, namespace)
			if err != nil {
				return nil, err
			}
			found = append(found, problems...)
		}
		return found, nil
	})
}

// problemsOf returns what is wrong with a namespace that is still terminating. Pods go first: while
// one is held, nothing else is deleted.
func (r *run) problemsOf(ctx context.Context, namespace *unstructured.Unstructured) (found []string, err error) {
	held, heldPods := 0, 0
	for _, gvr := range contentTypes { // pods come first
		list, err := r.cluster.client.Resource(gvr).Namespace(namespace.GetName()).List(ctx, metav1.ListOptions{})
		if err != nil {
			if apierrors.IsNotFound(err) {
				continue
			}
			return nil, err
		}
		for _, item := range list.Items {
			if slices.Contains(item.GetFinalizers(), holdFinalizer) && item.GetDeletionTimestamp() != nil {
				held++
				if gvr == pods {
					heldPods++
				}
				continue
			}
			if heldPods > 0 && gvr != pods {
				continue
			}
			found = append(found, fmt.Sprintf("namespace %s is being deleted, and %s/%s is in it though nothing holds it", namespace.GetName(), gvr.Resource, item.GetName()))
		}
	}
	if held == 0 {
		return append(found, fmt.Sprintf("namespace %s is being deleted and is still there, though nothing is in it: %s", namespace.GetName(), conditionsOf(namespace))), nil
	}
	for _, want := range []corev1.NamespaceConditionType{corev1.NamespaceContentRemaining, corev1.NamespaceFinalizersRemaining} {
		if !hasCondition(namespace, want) {
			found = append(found, fmt.Sprintf("namespace %s is held by %d objects, and its condition %s is not true: %s", namespace.GetName(), held, want, conditionsOf(namespace)))
		}
	}
	return found, nil
}

func typedNamespace(object *unstructured.Unstructured) *corev1.Namespace {
	namespace := &corev1.Namespace{}
	_ = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, namespace)
	return namespace
}

func hasCondition(object *unstructured.Unstructured, kind corev1.NamespaceConditionType) bool {
	return slices.ContainsFunc(typedNamespace(object).Status.Conditions, func(c corev1.NamespaceCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue
	})
}

func conditionsOf(object *unstructured.Unstructured) string {
	var text []string
	for _, c := range typedNamespace(object).Status.Conditions {
		text = append(text, fmt.Sprintf("%s=%s (%s)", c.Type, c.Status, c.Message))
	}
	return strings.Join(text, "; ")
}

// letGo removes the finalizers in terminating namespaces.
func (r *run) letGo(ctx context.Context) ([]string, error) {
	return nil, r.cluster.eventually(ctx, "nothing is held", func(ctx context.Context) error {
		list, err := r.cluster.client.Resource(namespaces).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range list.Items {
			if list.Items[i].GetDeletionTimestamp() == nil {
				continue
			}
			if err := r.cluster.letGo(ctx, list.Items[i].GetName()); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkGone waits until no namespace is terminating.
func (r *run) checkGone(ctx context.Context) ([]string, error) {
	return r.converge(ctx, func(ctx context.Context) (found []string, err error) {
		list, err := r.cluster.client.Resource(namespaces).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			if namespace := &list.Items[i]; namespace.GetDeletionTimestamp() != nil {
				found = append(found, fmt.Sprintf("namespace %s is being deleted and is still there: %s", namespace.GetName(), conditionsOf(namespace)))
			}
		}
		return found, nil
	})
}

// checkContent returns objects whose namespace is gone: without a namespace, or in a later one of
// the same name.
func (r *run) checkContent(ctx context.Context) (found []string, err error) {
	present, err := r.cluster.states(ctx, namespaces)
	if err != nil {
		return nil, err
	}
	for _, gvr := range contentTypes {
		list, err := r.cluster.client.Resource(gvr).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			found = append(found, orphan(gvr, &item, present)...)
		}
	}
	return found, nil
}

func orphan(gvr schema.GroupVersionResource, item *unstructured.Unstructured, present map[string]history.State) []string {
	namespace, exists := present[item.GetNamespace()]
	owner := item.GetLabels()[ownerLabel]
	switch {
	case !exists:
		return []string{fmt.Sprintf("%s %s/%s is there, its namespace is not", gvr.Resource, item.GetNamespace(), item.GetName())}
	case owner != "" && owner != namespace.UID:
		return []string{fmt.Sprintf("%s %s/%s was made for the namespace with uid %s, which has gone; now that one has uid %s",
			gvr.Resource, item.GetNamespace(), item.GetName(), owner, namespace.UID)}
	}
	return nil
}

// checkInformers waits until every store and every history equals the server.
func (r *run) checkInformers(ctx context.Context) ([]string, error) {
	return r.converge(ctx, func(ctx context.Context) (found []string, err error) {
		wanted := map[schema.GroupVersionResource]map[string]history.State{}
		for _, w := range r.observers.watched {
			gvr := w.resource()
			if wanted[gvr] == nil {
				if wanted[gvr], err = r.cluster.states(ctx, gvr); err != nil {
					return nil, err
				}
			}
			found = append(found, w.compare(wanted[gvr])...)
		}
		return found, nil
	})
}

// checkReplicas waits until every replica runs and is idle.
func (r *run) checkReplicas(ctx context.Context) ([]string, error) {
	return r.converge(ctx, func(context.Context) (found []string, err error) {
		for _, p := range r.replicas {
			found = append(found, p.healthy()...)
		}
		return found, nil
	})
}

// violations returns what no waiting repairs.
func (r *run) violations() []string {
	_, found := r.guard.found()
	if r.shifts != nil {
		_, writers := r.shifts.found()
		found = append(found, writers...)
	}
	if r.observers != nil {
		for _, w := range r.observers.watched {
			found = append(found, w.faults()...)
		}
	}
	for _, p := range r.replicas {
		found = append(found, p.faults()...)
	}
	return found
}

// endSubjects ends the subjects and checks that nothing is left.
func (r *run) endSubjects(ctx context.Context) (found []string) {
	if r.plan.DarkEnd {
		r.record("the subjects end while no server answers")
		for _, d := range r.doors {
			d.link.BlackHole(true)
		}
	}
	for _, p := range r.replicas {
		p.end(ctx)
	}
	ended := make(chan []string)
	go func() { ended <- r.observers.end() }()
	select {
	case left := <-ended:
		found = append(found, left...)
	case <-time.After(mostShutdown):
		return append(found, fmt.Sprintf("informers do not end in %v:\n%s", mostShutdown, strings.Join(stacksWith([]string{"orrery/informer"}), "\n\n")))
	}
	return found
}
