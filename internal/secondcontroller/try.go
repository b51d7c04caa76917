package secondcontroller

import (
	"context"
	"fmt"
	"strings"
	"time"

	"orrery/restclient"
	"orrery/restclient/api"
	"orrery/wait"
)

// CanaryPrefix is how the names of the namespaces begin that Try makes.
const CanaryPrefix = "orrery-probe-"

// CanaryWait is how long Try waits for somebody else. A namespace controller leaves a namespace alone for 5 s after its deletion and
// then takes some moments.
const CanaryWait = 8 * time.Second

// canaryPace is how often Try looks.
const canaryPace = 500 * time.Millisecond

// deletionLimit is how long the deletion of the canary may take.
const deletionLimit = 5 * time.Second

// MayTry tells whether the server would let Try make its canary. It has the server judge the request without doing it.
func MayTry(ctx context.Context, client *restclient.Client) bool {
	_, err := createCanary(ctx, client, true)
	return err == nil
}

// Try deletes a new namespace and sees whether somebody else takes it down, for CanaryWait. It must not be called while the caller's
// own controller works, nor any other that is not looked for. waiting is called when the wait begins. The verdict is Unknown if the
// namespace cannot be made or deleted. The error is that of a context that has ended.
func Try(ctx context.Context, client *restclient.Client, waiting func(canary string)) (Evidence, error) {
	canary, err := createCanary(ctx, client, false)
	if err != nil {
		return unknown(ctx, fmt.Sprintf("a namespace to find out with cannot be created: %v", err))
	}
	namespaces := restclient.Typed[*api.Namespace](client, api.NamespacesResource, "")
	if err := deleteCanary(ctx, namespaces, canary); err != nil {
		return unknown(ctx, fmt.Sprintf("the namespace to find out with, %s, cannot be deleted: %v", canary.Name, err))
	}
	waiting(canary.Name)
	since := time.Now()
	touched := false
	_ = wait.PollUntilContextTimeout(ctx, canaryPace, CanaryWait, true, func(ctx context.Context) (bool, error) {
		latest, err := namespaces.Get(ctx, canary.Name, api.GetOptions{})
		touched = api.IsNotFound(err) || err == nil && (latest.UID != canary.UID || takenDown(latest))
		return touched, nil // other errors pass, or time does
	})
	switch {
	case ctx.Err() != nil:
		return Evidence{}, ctx.Err()
	case touched:
		return Evidence{Present, fmt.Sprintf("somebody took the namespace %s down, which was made and deleted to find out, within %s",
			canary.Name, time.Since(since).Round(100*time.Millisecond))}, nil
	}
	return Evidence{Absent, fmt.Sprintf("nobody took the namespace %s down, which was made and deleted to find out, within %s", canary.Name, CanaryWait)}, nil
}

func createCanary(ctx context.Context, client *restclient.Client, dryRun bool) (*api.Namespace, error) {
	canary := &api.Namespace{ObjectMeta: api.ObjectMeta{
		GenerateName: CanaryPrefix,
		Labels:       map[string]string{"app.kubernetes.io/managed-by": "orrery"},
		Annotations:  map[string]string{"kubernetes.io/description": "Made and deleted by orrery to find out whether another namespace controller works."},
	}}
	canary.Kind, canary.APIVersion = "Namespace", "v1"
	return restclient.Typed[*api.Namespace](client, api.NamespacesResource, "").Create(ctx, canary, api.UpdateOptions{DryRun: dryRun})
}

// deleteCanary deletes it also when ctx has ended meanwhile: nobody else would, ever.
func deleteCanary(ctx context.Context, namespaces *restclient.Resource[*api.Namespace], canary *api.Namespace) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deletionLimit)
	defer cancel()
	return namespaces.Delete(ctx, canary.Name, api.DeleteOptions{Preconditions: &api.Preconditions{UID: &canary.UID}})
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

func unknown(ctx context.Context, how string) (Evidence, error) {
	if ctx.Err() != nil {
		return Evidence{}, ctx.Err()
	}
	return Evidence{How: how}, nil
}
