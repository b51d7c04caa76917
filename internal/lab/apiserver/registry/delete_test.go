package registry_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

const pod = `{"metadata":{"name":"p"},"spec":{"nodeName":"n","terminationGracePeriodSeconds":20,"containers":[{"name":"c","image":"i"}]}}`

// The numbers are those of kube-apiserver.
func TestPodsHaveAGracePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.at("pods", "default", "p")
		w.make(p, pod)
		start := time.Now().UTC().Truncate(time.Second)
		state := func() string {
			o := w.get(p)
			return fmt.Sprintf("in %v, grace %v, generation %v", o.GetDeletionTimestamp().Sub(start), o.Nested("metadata", "deletionGracePeriodSeconds"),
				o.Nested("metadata", "generation"))
		}
		for _, c := range []struct {
			asked *int64
			want  string
		}{
			{nil, "in 20s, grace 20, generation 2"},
			{nil, "in 20s, grace 20, generation 2"},
			{ptr(int64(40)), "in 20s, grace 20, generation 2"},
			{ptr(int64(5)), "in 5s, grace 5, generation 2"},
			{ptr(int64(-7)), "in 1s, grace 1, generation 2"},
		} {
			_, gone := w.delete(p, api.DeleteOptions{GracePeriodSeconds: c.asked})
			assert.False(t, gone)
			assert.Equal(t, c.want, state())
		}
		watch, err := w.Watch(p, api.ListOptions{ResourceVersion: fmt.Sprint(w.store.Version())})
		require.NoError(t, err)
		last, gone := w.delete(p, api.DeleteOptions{GracePeriodSeconds: ptr(int64(0))})
		assert.True(t, gone)
		assert.Equal(t, int64(0), last.Decode().Nested("metadata", "deletionGracePeriodSeconds"))
		assert.Equal(t, start, last.Decode().GetDeletionTimestamp().UTC())
		events, err := next(ctx, watch)
		require.NoError(t, err)
		assert.Equal(t, []api.WatchEventType{api.WatchModified, api.WatchDeleted}, []api.WatchEventType{events[0].Type, events[1].Type},
			"the grace period is 0 before the removal")
	})
}

func TestPodsWithFinalizersWaitForBoth(t *testing.T) {
	w := newWorld(t)
	p := w.at("pods", "default", "p")
	w.make(p, `{"metadata":{"name":"p","finalizers":["a.b/c"]},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`)
	_, gone := w.delete(p, api.DeleteOptions{})
	assert.False(t, gone)
	_, err := w.patch(p, `{"metadata":{"finalizers":null}}`)
	require.NoError(t, err)
	assert.True(t, w.exists(p), "the grace period has not ended")
	_, gone = w.delete(p, api.DeleteOptions{GracePeriodSeconds: ptr(int64(0))})
	assert.True(t, gone)

	w.make(p, `{"metadata":{"name":"p","finalizers":["a.b/c"]},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`)
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

func TestFinalizersHoldAnObject(t *testing.T) {
	w := newWorld(t)
	w.make(w.cm(""), `{"metadata":{"name":"a","finalizers":["a.b/c","d.e/f"]}}`)
	first, gone := w.delete(w.cm("a"), api.DeleteOptions{})
	assert.False(t, gone)
	o := first.Decode()
	assert.NotNil(t, o.GetDeletionTimestamp())
	assert.Equal(t, int64(0), o.Nested("metadata", "deletionGracePeriodSeconds"))

	again, gone := w.delete(w.cm("a"), api.DeleteOptions{})
	assert.False(t, gone)
	assert.Equal(t, first.Version, again.Version, "nothing to do")

	_, err := w.patch(w.cm("a"), `{"metadata":{"finalizers":["a.b/c","x.y/z"]}}`)
	refused(t, err, 422, `ConfigMap "a" is invalid: metadata.finalizers: Forbidden: `+
		`no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.y/z"}`)

	after, err := w.patch(w.cm("a"), `{"metadata":{"deletionTimestamp":null,"deletionGracePeriodSeconds":null},"data":{"k":"v"}}`)
	require.NoError(t, err)
	assert.Equal(t, o.GetDeletionTimestamp(), after.GetDeletionTimestamp(), "a deletion cannot be undone")

	after, err = w.patch(w.cm("a"), `{"metadata":{"finalizers":["d.e/f"]}}`)
	require.NoError(t, err)
	version := after.GetResourceVersion()
	shown, err := w.Patch(ctx, w.cm("a"), merge(`{"metadata":{"finalizers":null}}`), dry)
	require.NoError(t, err)
	assert.Empty(t, shown.Decode().GetFinalizers())
	assert.True(t, w.exists(w.cm("a")))
	after, err = w.patch(w.cm("a"), `{"metadata":{"finalizers":null}}`)
	require.NoError(t, err)
	assert.Equal(t, version, after.GetResourceVersion(), "the state without finalizers was never stored")
	assert.Empty(t, after.GetFinalizers())
	assert.False(t, w.exists(w.cm("a")))
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
