package secondcontroller

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// CanaryPrefix is how the names of the namespaces begin that Try makes.
const CanaryPrefix = "orrery-probe-"

// How what Try makes is labelled.
const (
	managedLabel = "app.kubernetes.io/managed-by"
	managedBy    = "orrery"
)

const (
	// deletionLimit is how long the deletion of the canary may take, with repetitions.
	deletionLimit = 5 * time.Second
	// creationLag is for how long a creation that was not answered may still arrive, as far as that is waited for.
	creationLag = time.Second
	// removalPace is how often the deletion is repeated.
	removalPace = 250 * time.Millisecond
)

// canary is the namespace that Try makes. Nobody but Try knows that it exists, and a namespace that nobody deletes stays for ever. So
// it has a name before it is asked for: whatever becomes of the answer, it can be deleted. Nobody else uses that name.
type canary struct {
	namespaces *restclient.Resource[*api.Namespace]
	name       string
}

func newCanary(client *restclient.Client) canary {
	return canary{
		namespaces: restclient.Typed[*api.Namespace](client, api.NamespacesResource, ""),
		name:       CanaryPrefix + strings.ToLower(rand.Text()[:10]),
	}
}

func (c canary) create(ctx context.Context, dryRun bool) error {
	namespace := &api.Namespace{ObjectMeta: api.ObjectMeta{
		Name:        c.name,
		Labels:      map[string]string{managedLabel: managedBy},
		Annotations: map[string]string{"kubernetes.io/description": "Made and deleted by orrery to find out whether another namespace controller works."},
	}}
	namespace.Kind, namespace.APIVersion = "Namespace", "v1"
	_, err := c.namespaces.Create(ctx, namespace, api.UpdateOptions{DryRun: dryRun})
	return err
}

// isRefusal tells whether the server has answered, and done nothing. Other errors leave that open. That the name is taken is one of
// them: it is ours, and was stored by a request that was repeated on the way.
func isRefusal(err error) bool {
	status, ok := errors.AsType[*api.StatusError](err)
	return ok && status.Status.Code < 500 && !api.IsAlreadyExists(err) && !api.IsTimeout(err)
}

// mayRemove returns why this user could not delete the canary, before there is one.
func (c canary) mayRemove(ctx context.Context) error {
	err := c.namespaces.Delete(ctx, c.name, api.DeleteOptions{DryRun: true})
	if api.IsNotFound(err) {
		return nil
	}
	return err
}

// remove deletes it, also when ctx has ended meanwhile: nobody else would, ever. If it is not known whether it was made, and it is not
// there, that is what the error says in the end.
func (c canary) remove(ctx context.Context, made bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deletionLimit)
	defer cancel()
	began := time.Now()
	var err error
	_ = wait.PollUntilContextCancel(ctx, removalPace, true, func(ctx context.Context) (bool, error) {
		err = c.namespaces.Delete(ctx, c.name, api.DeleteOptions{})
		switch {
		case api.IsConflict(err): // it is being deleted: an answer was lost
			err = nil
			return true, nil
		case api.IsNotFound(err) && made: // somebody was fast
			err = nil
			return true, nil
		case api.IsNotFound(err):
			return time.Since(began) >= creationLag, nil
		}
		return err == nil || isRefusal(err), nil
	})
	return err
}

// awaitTouch tells whether somebody comes to work on it, as long as Try waits.
func (c canary) awaitTouch(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, canaryLimit)
	defer cancel()
	for range canaryLooks {
		if c.touched(ctx) {
			return true
		}
		if wait.Sleep(ctx, canaryPace) != nil {
			return false
		}
	}
	return c.touched(ctx)
}

// touched tells whether somebody has been at work on it.
func (c canary) touched(ctx context.Context) bool {
	latest, err := c.namespaces.Get(ctx, c.name, api.GetOptions{})
	return api.IsNotFound(err) || err == nil && takenDown(latest) // other errors pass, or time does
}

// takenDown tells whether a namespace controller has been at work: it reports what it finds, and takes its finalizer off.
func takenDown(namespace *api.Namespace) bool {
	for _, condition := range namespace.Status.Conditions {
		if strings.HasPrefix(string(condition.Type), "Namespace") {
			return true
		}
	}
	return len(namespace.Spec.Finalizers) == 0
}
