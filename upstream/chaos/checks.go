package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"orrery/internal/lab/chaos"
)

// settleTimeout bounds the wait after a step. Only a failure reaches it: a failing pass is retried
// within a minute.
const settleTimeout = 2 * time.Minute

// settle waits until the subjects have caught up with the cluster. The writers must have stopped.
func (r *run) settle(ctx context.Context) error {
	began := time.Now()
	if err := r.converge(ctx, r.terminating); err != nil {
		return err
	}
	// An orphan that goes later is a violation as well.
	orphans, err := r.orphans(ctx)
	if err := errors.Join(err, problems(orphans)); err != nil {
		return err
	}
	if err := r.converge(ctx, r.differences); err != nil {
		return err
	}
	if err := r.converge(ctx, r.orrery.unhealthy); err != nil {
		return err
	}
	r.record("equal after %.1f s: %d writes, %d events",
		time.Since(began).Seconds(), r.writers.count.Load(), r.observers.events())
	return problems(r.faults())
}

// converge repeats a check until it finds nothing or the time is over.
func (r *run) converge(ctx context.Context, check func(context.Context) ([]string, error)) error {
	return r.cluster.eventually(ctx, func(ctx context.Context) error {
		found, err := check(ctx)
		return errors.Join(err, problems(found))
	})
}

// mostProblems bounds a report: most problems repeat.
const mostProblems = 20

// problems returns an error with a line for each problem, or nil.
func problems(found []string) error {
	if len(found) == 0 {
		return nil
	}
	if len(found) > mostProblems {
		found = append(found[:mostProblems:mostProblems], "...")
	}
	return errors.New("  - " + strings.Join(found, "\n  - "))
}

// terminating returns the deleted namespaces that are still there.
func (r *run) terminating(ctx context.Context) (found []string, err error) {
	list, err := r.cluster.client.Resource(namespaces).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if namespace := &list.Items[i]; namespace.GetDeletionTimestamp() != nil {
			status := namespace.Object["status"]
			found = append(found, fmt.Sprintf("namespace %s is still there: %v", namespace.GetName(), status))
		}
	}
	return found, nil
}

// orphans returns the objects whose namespace is gone: without a namespace, or in a later one of
// the same name.
func (r *run) orphans(ctx context.Context) (found []string, err error) {
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
			namespace, exists := present[item.GetNamespace()]
			name := fmt.Sprintf("%s %s/%s", gvr.Resource, item.GetNamespace(), item.GetName())
			owner := item.GetLabels()[ownerLabel]
			if !exists {
				found = append(found, name+" is there, its namespace is not")
			} else if owner != "" && owner != namespace.UID {
				found = append(found, fmt.Sprintf("%s belongs to an earlier namespace, with uid %s", name, owner))
			}
		}
	}
	return found, nil
}

// differences returns how stores and histories differ from the server.
func (r *run) differences(ctx context.Context) (found []string, err error) {
	server := map[schema.GroupVersionResource]map[string]chaos.State{}
	for _, w := range r.observers.watched {
		gvr := w.resource()
		if server[gvr] == nil {
			if server[gvr], err = r.cluster.states(ctx, gvr); err != nil {
				return nil, err
			}
		}
		found = append(found, w.differences(server[gvr])...)
	}
	return found, nil
}

// faults returns what cannot become right.
func (r *run) faults() (found []string) {
	for _, w := range r.observers.watched {
		found = append(found, w.faults()...)
	}
	return append(found, r.orrery.faults()...)
}
