package registry_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

const pod = `{"metadata":{"name":"p"},"spec":{"nodeName":"n","terminationGracePeriodSeconds":20,"containers":[{"name":"c","image":"i"}]}}`

func TestAPodHasNoGracePeriodLeftWhenItGoes(t *testing.T) {
	w := newWorld(t)
	p := w.at("pods", "default", "p")
	w.make(p, pod)
	_, gone := w.delete(p, api.DeleteOptions{})
	require.False(t, gone)
	watch, err := w.Watch(p, api.ListOptions{ResourceVersion: fmt.Sprint(w.store.Version())})
	require.NoError(t, err)
	last, gone := w.delete(p, api.DeleteOptions{GracePeriodSeconds: ptr(int64(0))})
	assert.True(t, gone)
	assert.Equal(t, int64(0), last.Decode().Nested("metadata", "deletionGracePeriodSeconds"))
	events, err := next(ctx, watch)
	require.NoError(t, err)
	require.Len(t, events, 2)
	assert.Equal(t, api.WatchModified, events[0].Type, "the grace period is 0 before the removal")
	assert.Equal(t, api.WatchDeleted, events[1].Type)
}

func TestPodsWithFinalizersWaitForBoth(t *testing.T) {
	w := newWorld(t)
	p := w.at("pods", "default", "p")
	const held = `{"metadata":{"name":"p","finalizers":["a.b/c"]},
		"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`
	w.make(p, held)
	w.delete(p, api.DeleteOptions{})
	o, gone := w.delete(p, api.DeleteOptions{GracePeriodSeconds: ptr(int64(-1))})
	assert.False(t, gone)
	assert.EqualValues(t, 1, o.Decode().Nested("metadata", "deletionGracePeriodSeconds"), "none is negative")
	_, err := w.patch(p, `{"metadata":{"finalizers":null}}`)
	require.NoError(t, err)
	assert.True(t, w.exists(p), "the grace period has not ended")
	_, gone = w.delete(p, api.DeleteOptions{GracePeriodSeconds: ptr(int64(0))})
	assert.True(t, gone)

	w.make(p, held)
	_, gone = w.delete(p, api.DeleteOptions{GracePeriodSeconds: ptr(int64(0))})
	assert.False(t, gone)
	_, err = w.patch(p, `{"metadata":{"finalizers":null}}`)
	require.NoError(t, err)
	assert.False(t, w.exists(p))
}

// Another client writes to an object between the check and the removal.
func TestDeleteRetriesAfterAConcurrentWrite(t *testing.T) {
	for name, target := range map[string]func(*world) registry.Target{
		"object":    func(w *world) registry.Target { return w.cm("a") },
		"namespace": func(w *world) registry.Target { return w.ns("a") },
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			var w *world
			w = newWorld(t, func(c *registry.Config) {
				c.Admit = func(_ context.Context, a registry.Attributes) error {
					if a.Verb != "delete" {
						return nil
					}
					if asked++; asked == 1 {
						_, err := w.patch(a.Target, `{"metadata":{"labels":{"x":"y"},"finalizers":["a.b/c"]}}`)
						return err
					}
					return nil
				}
			})
			w.make(target(w), `{"metadata":{"name":"a"}}`)
			o, gone := w.delete(target(w), api.DeleteOptions{})
			assert.False(t, gone, "it now has a finalizer")
			assert.Equal(t, []string{"a.b/c"}, o.Decode().GetFinalizers())
			assert.Equal(t, 2, asked, "once per attempt")
		})
	}
}

// A write between the check and the removal is noticed.
func TestPreconditionsAreCheckedAgainAfterAConcurrentWrite(t *testing.T) {
	asked := 0
	var w *world
	w = newWorld(t, func(c *registry.Config) {
		c.Admit = func(_ context.Context, a registry.Attributes) error {
			if a.Verb != "delete" {
				return nil
			}
			asked++
			_, err := w.patch(a.Target, `{"metadata":{"labels":{"x":"y"}}}`)
			return err
		}
	})
	version := w.make(w.cm(""), `{"metadata":{"name":"a"}}`).Version
	_, _, err := w.Delete(ctx, w.cm("a"), api.DeleteOptions{
		Preconditions: &api.Preconditions{ResourceVersion: ptr(fmt.Sprint(version))},
	}, none)
	assert.True(t, api.IsConflict(err), "%v", err)
	assert.True(t, w.exists(w.cm("a")))
	assert.Equal(t, 1, asked)
}

func TestTheLastPolicyOfADeletionCounts(t *testing.T) {
	w := newWorld(t)
	job := w.at("jobs.batch", "default", "p")
	w.make(job, `{"metadata":{"name":"p","finalizers":["foregroundDeletion"]},
		"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`)
	o, _ := w.delete(job, api.DeleteOptions{})
	assert.Equal(t, []string{"foregroundDeletion"}, o.Decode().GetFinalizers(), "the job states a policy already")
	w.delete(job, api.DeleteOptions{PropagationPolicy: api.DeletePropagationOrphan})
	_, gone := w.delete(job, api.DeleteOptions{PropagationPolicy: api.DeletePropagationBackground})
	assert.True(t, gone, "no finalizer of an earlier policy holds it")
}

func TestADryRunSaysThatAPodWouldBeGone(t *testing.T) {
	w := newWorld(t)
	p := w.at("pods", "default", "p")
	w.make(p, pod)
	for grace, want := range map[int64]bool{0: true, 5: false} {
		_, gone, err := w.Delete(ctx, p, api.DeleteOptions{GracePeriodSeconds: &grace}, dry)
		require.NoError(t, err)
		assert.Equal(t, want, gone, grace)
	}
	assert.Nil(t, w.get(p).GetDeletionTimestamp())
}

func TestAdmissionMayDenyTheDeletionOfANamespace(t *testing.T) {
	w := newWorld(t, func(c *registry.Config) {
		c.Admit = func(_ context.Context, a registry.Attributes) error {
			if a.Verb == "delete" {
				return assert.AnError
			}
			return nil
		}
	})
	w.make(w.ns(""), `{"metadata":{"name":"n"}}`)
	w.makeCronTabs()
	for _, target := range []registry.Target{w.ns("n"),
		w.at("customresourcedefinitions.apiextensions.k8s.io", "", "crontabs.stable.example.com")} {
		_, _, err := w.Delete(ctx, target, api.DeleteOptions{}, none)
		require.ErrorIs(t, err, assert.AnError)
		assert.Nil(t, w.get(target).GetDeletionTimestamp())
	}
}

func TestANamespaceWaitsForBothListsOfFinalizers(t *testing.T) {
	w := newWorld(t)
	w.make(w.ns(""), `{"metadata":{"name":"n","finalizers":["a.b/c"]}}`)
	w.delete(w.ns("n"), api.DeleteOptions{})
	_, err := w.update(w.ns("n", "finalize"),
		`{"metadata":{"name":"n","finalizers":["a.b/c"]},"spec":{"finalizers":[]}}`)
	require.NoError(t, err)
	assert.True(t, w.exists(w.ns("n")))
	after, gone := w.delete(w.ns("n"), api.DeleteOptions{})
	assert.False(t, gone)
	assert.Equal(t, int64(0), after.Decode().Nested("metadata", "deletionGracePeriodSeconds"),
		"now deleted like any other object")
	_, err = w.patch(w.ns("n"), `{"metadata":{"finalizers":null}}`)
	require.NoError(t, err)
	assert.False(t, w.exists(w.ns("n")))

	w.make(w.ns(""), `{"metadata":{"name":"n","finalizers":["a.b/c"]}}`)
	w.delete(w.ns("n"), api.DeleteOptions{})
	_, err = w.patch(w.ns("n"), `{"metadata":{"finalizers":null}}`)
	require.NoError(t, err)
	assert.True(t, w.exists(w.ns("n")), "in the other order")
}

// "It performs a final DELETE action to remove that Namespace from the storage" (the design
// document). This is needed if the finalizers were removed before the deletion began.
func TestTheFinalDelete(t *testing.T) {
	w := newWorld(t)
	w.make(w.ns(""), `{"metadata":{"name":"n"}}`)
	_, err := w.update(w.ns("n", "finalize"), `{"metadata":{"name":"n"},"spec":{"finalizers":[]}}`)
	require.NoError(t, err)
	after, gone := w.delete(w.ns("n"), api.DeleteOptions{})
	assert.False(t, gone)
	assert.Equal(t, "Terminating", after.Decode().NestedString("status", "phase"))
	assert.True(t, w.exists(w.ns("n")))
	_, gone = w.delete(w.ns("n"), api.DeleteOptions{})
	assert.True(t, gone)
}
