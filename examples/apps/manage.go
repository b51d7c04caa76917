package apps

import (
	"context"
	"errors"
	"sync"

	"orrery/restclient/api"
)

// burstReplicas bounds how many pods one pass creates or deletes.
const burstReplicas = 500

// manageReplicas creates missing pods or deletes surplus ones. pods are those that count as
// replicas.
func (c *ReplicaSetController) manageReplicas(ctx context.Context, set *ReplicaSet, pods []*Pod) error {
	switch missing := set.Spec.Replicas - len(pods); {
	case missing > 0:
		return c.createPods(ctx, set, min(missing, burstReplicas))
	case missing < 0:
		return c.deletePods(ctx, set, podsToDelete(pods, min(-missing, burstReplicas)))
	}
	return nil
}

func (c *ReplicaSetController) createPods(ctx context.Context, set *ReplicaSet, count int) error {
	if alive, err := IsAlive(ctx, set, c.sets); !alive || err != nil {
		return err
	}
	c.expectations.expectCreations(set.UID, count)
	created, err := slowStart(count, func() error { return c.createPod(ctx, set) })
	c.expectations.creationsObserved(set.UID, count-created) // there will be no event for the others
	if api.IsNamespaceTerminating(err) {
		return nil // the server accepts no more pods there
	}
	return err
}

func (c *ReplicaSetController) createPod(ctx context.Context, set *ReplicaSet) error {
	pod, err := c.pods.Client(set.Namespace).Create(ctx, set.Spec.Template.PodFor(set.Owner()), api.UpdateOptions{})
	if c.trace.Created != nil {
		name := ""
		if err == nil {
			name = pod.Name
		}
		c.trace.Created(set, name, err)
	}
	return err
}

// slowStart calls create count times, in batches of 1, 2, 4 and so on, and stops after the first
// batch with an error. It returns the number of calls that succeeded, and the first error.
func slowStart(count int, create func() error) (succeeded int, err error) {
	for size := 1; succeeded < count; size *= 2 {
		batch := min(size, count-succeeded)
		failures := inParallel(batch, func(int) error { return create() })
		succeeded += batch - len(failures)
		if len(failures) > 0 {
			return succeeded, failures[0]
		}
	}
	return succeeded, nil
}

// inParallel calls do concurrently for 0 to count-1, and returns the errors.
func inParallel(count int, do func(i int) error) (failures []error) {
	var (
		calls sync.WaitGroup
		mu    sync.Mutex
	)
	for i := range count {
		calls.Go(func() {
			if err := do(i); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failures = append(failures, err)
			}
		})
	}
	calls.Wait()
	return failures
}

func (c *ReplicaSetController) deletePods(ctx context.Context, set *ReplicaSet, pods []*Pod) error {
	var uids []string
	for _, pod := range pods {
		uids = append(uids, pod.UID)
	}
	c.expectations.expectDeletions(set, uids)
	return errors.Join(inParallel(len(pods), func(i int) error { return c.deletePod(ctx, set, pods[i]) })...)
}

func (c *ReplicaSetController) deletePod(ctx context.Context, set *ReplicaSet, pod *Pod) error {
	err := DeleteIncarnation(ctx, c.pods.Client(set.Namespace), &pod.ObjectMeta)
	if err != nil {
		c.expectations.deletionObserved(pod.UID)
	}
	if c.trace.Deleted != nil {
		c.trace.Deleted(set, pod.Name, err)
	}
	if api.IsNotFound(err) {
		return nil // it is gone already
	}
	return err
}
