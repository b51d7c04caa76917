package registry_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

func (w *world) update(t registry.Target, text string) (*api.Unstructured, error) {
	o, _, err := w.Update(ctx, t, tree(text), none)
	if err != nil {
		return nil, err
	}
	return o.Decode(), nil
}

func TestUpdateKeepsWhatTheServerOwns(t *testing.T) {
	w := newWorld(t)
	old := w.make(w.cm(""), `{"metadata":{"name":"a","labels":{"x":"y"}},"data":{"k":"1"}}`)
	after, err := w.update(w.cm("a"), `{"metadata":{"name":"a","creationTimestamp":"2020-01-01T00:00:00Z","generation":5,"managedFields":[{}]},"data":{"k":"2"}}`)
	require.NoError(t, err)
	before := old.Decode()
	assert.Equal(t, before.GetUID(), after.GetUID())
	assert.Equal(t, before.Nested("metadata", "creationTimestamp"), after.Nested("metadata", "creationTimestamp"))
	assert.Nil(t, after.Nested("metadata", "generation"))
	assert.NotContains(t, after.Nested("metadata", "managedFields"), map[string]any{}, "clients do not set the managedFields")
	assert.Empty(t, after.GetLabels(), "an update replaces the labels")
	assert.Equal(t, fmt.Sprint(old.Version+1), after.GetResourceVersion())
}

// The answers are those of kube-apiserver 1.36.
func TestUpdateRefuses(t *testing.T) {
	w := newWorld(t)
	w.make(w.cm(""), `{"metadata":{"name":"a"}}`)
	lease := w.at("leases.coordination.k8s.io", "default", "zz")
	w.make(lease, `{"metadata":{"name":"zz"}}`)
	for name, c := range map[string]struct {
		target  registry.Target
		object  string
		code    int
		message string
	}{
		"neither name nor namespace": {
			w.cm("a"), `{"metadata":{"name":"b","namespace":"x"}}`, 400,
			"the namespace of the provided object does not match the namespace sent on the request",
		},
		"create on update with an invalid version": {
			w.at("leases.coordination.k8s.io", "default", "new"), `{"metadata":{"name":"new","resourceVersion":"x"}}`, 500, `strconv.ParseUint: parsing "x": invalid syntax`,
		},
		"a missing object, with a version": {w.cm("zz"), `{"metadata":{"name":"zz","resourceVersion":"5"}}`, 404, `configmaps "zz" not found`},
		"a missing object, with a UID":     {w.cm("zz"), `{"metadata":{"name":"zz","uid":"5"}}`, 404, `configmaps "zz" not found`},
		"a missing namespace": {
			w.at("leases.coordination.k8s.io", "nope", "zz"), `{"metadata":{"name":"zz"}}`, 404, `namespaces "nope" not found`,
		},
		"a missing object, with an invalid version": {w.cm("zz"), `{"metadata":{"name":"zz","resourceVersion":"x"}}`, 404, `configmaps "zz" not found`},
		"a missing object and namespace":            {w.at("configmaps", "nope", "a"), `{"metadata":{"name":"a"}}`, 404, `configmaps "a" not found`},
		"a UID for a missing object": {
			w.at("leases.coordination.k8s.io", "default", "zz3"), `{"metadata":{"name":"zz3","uid":"abc"}}`, 409,
			`Operation cannot be fulfilled on leases.coordination.k8s.io "zz3": StorageError: invalid object, Code: 4, Key: ` +
				`/registry/leases/default/zz3, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: abc, UID in object meta: `,
		},
		"no version where one is required": {
			lease, `{"metadata":{"name":"zz"}}`, 422,
			`leases.coordination.k8s.io "zz" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
		},
		"deletion fields set by a client": {
			w.cm("a"), `{"metadata":{"name":"a","deletionTimestamp":"2020-01-01T00:00:00Z","deletionGracePeriodSeconds":7}}`, 422,
			`ConfigMap "a" is invalid: [metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable, ` +
				`metadata.deletionGracePeriodSeconds: Invalid value: 7: field is immutable]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := w.store.Version()
			for _, options := range []registry.WriteOptions{none, dry} {
				_, _, err := w.Update(ctx, c.target, tree(c.object), options)
				message := c.message
				if options.DryRun {
					message = strings.Replace(message, "Key: /registry", "Key: ", 1) // a dry run bypasses the storage
				}
				refused(t, err, c.code, message)
			}
			assert.Equal(t, before, w.store.Version())
		})
	}
}

// Some types allow an update to create an object. A resourceVersion is then ignored.
func TestUpdateMayCreate(t *testing.T) {
	w := newWorld(t)
	for _, object := range []string{`{"metadata":{"name":"a"}}`, `{"metadata":{"name":"b","resourceVersion":"5"}}`} {
		o := tree(object)
		after, created, err := w.Update(ctx, w.at("leases.coordination.k8s.io", "default", o.GetName()), o, none)
		require.NoError(t, err)
		assert.True(t, created)
		assert.NotEmpty(t, after.UID)
	}
}

func TestOptimisticConcurrencyLetsOneOfManyWin(t *testing.T) {
	w := newWorld(t)
	old := w.make(w.cm(""), `{"metadata":{"name":"a"},"data":{"k":"0"}}`)
	var wg sync.WaitGroup
	results := make([]error, 20)
	for i := range results {
		wg.Go(func() {
			_, results[i] = w.update(w.cm("a"), fmt.Sprintf(`{"metadata":{"name":"a","resourceVersion":"%d"},"data":{"k":"w%d"}}`, old.Version, i))
		})
	}
	wg.Wait()
	won := 0
	for _, err := range results {
		if err == nil {
			won++
			continue
		}
		assert.True(t, api.IsConflict(err), "%v", err)
	}
	assert.Equal(t, 1, won)
	assert.Equal(t, old.Version+1, w.store.Version())
}

func TestUnconditionalWritersAllGetThrough(t *testing.T) {
	w := newWorld(t)
	old := w.make(w.cm(""), `{"metadata":{"name":"a"}}`)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			_, err := w.update(w.cm("a"), fmt.Sprintf(`{"metadata":{"name":"a"},"data":{"k":"w%d"}}`, i))
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.Equal(t, old.Version+20, w.store.Version())
}

func TestPatchRefuses(t *testing.T) {
	w := newWorld(t)
	w.make(w.cm(""), `{"metadata":{"name":"a"}}`)
	_, err := w.patch(w.cm("a"), `{"metadata":{"resourceVersion":"abc"}}`)
	refused(t, err, 500, `strconv.ParseUint: parsing "abc": invalid syntax`)
	_, err = w.patch(w.cm("nope"), `{}`)
	refused(t, err, 404, `configmaps "nope" not found`)
	w.make(w.ns(""), `{"metadata":{"name":"gone"}}`)
	w.make(w.at("configmaps", "gone", ""), `{"metadata":{"name":"left"}}`)
	w.delete(w.ns("gone"), api.DeleteOptions{})
	_, err = w.update(w.ns("gone", "finalize"), `{"metadata":{"name":"gone"}}`)
	require.NoError(t, err)
	_, err = w.patch(w.at("configmaps", "gone", "left"), `{}`)
	refused(t, err, 404, `namespaces "gone" not found`)
	w.delete(w.at("configmaps", "gone", "left"), api.DeleteOptions{})
	broken := fmt.Errorf("the patch does not apply")
	_, err = w.Patch(ctx, w.cm("a"), func(*api.Unstructured) (*api.Unstructured, error) { return nil, broken }, none)
	assert.ErrorIs(t, err, broken)
}

// A patch is retried on the latest state, unless it names a version.
func TestPatchesAreRepeated(t *testing.T) {
	w := newWorld(t)
	w.make(w.cm(""), `{"metadata":{"name":"a"},"data":{"n":"0"}}`)
	disturb := func(times int) func(*api.Unstructured) (*api.Unstructured, error) {
		calls := 0
		return func(o *api.Unstructured) (*api.Unstructured, error) {
			if calls++; calls <= times {
				_, err := w.update(w.cm("a"), fmt.Sprintf(`{"metadata":{"name":"a"},"data":{"n":"%s%d"}}`, o.NestedString("data", "n"), calls))
				require.NoError(t, err)
			}
			return o, o.SetNested("patched", "data", "p")
		}
	}
	o, err := w.Patch(ctx, w.cm("a"), disturb(4), none)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"n": "01234", "p": "patched"}, o.Decode().NestedStringMap("data"))

	_, err = w.Patch(ctx, w.cm("a"), disturb(5), none)
	refused(t, err, 409, `Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again`)

	named := w.get(w.cm("a")).GetResourceVersion()
	calls := 0
	_, err = w.Patch(ctx, w.cm("a"), func(o *api.Unstructured) (*api.Unstructured, error) {
		changed, err := disturb(1)(o)
		calls++
		metadata, _ := changed.Nested("metadata").(map[string]any)
		metadata["resourceVersion"] = named
		return changed, err
	}, none)
	assert.True(t, api.IsConflict(err), "%v", err)
	assert.Equal(t, 2, calls)
}

func TestConflictsOnDemand(t *testing.T) {
	left := 2
	w := newWorld(t, func(c *registry.Config) {
		c.Conflict = func(a registry.Attributes) bool { left--; return left >= 0 }
	})
	w.make(w.cm(""), `{"metadata":{"name":"a"}}`)
	_, err := w.update(w.cm("a"), `{"metadata":{"name":"a"}}`)
	assert.True(t, api.IsConflict(err), "%v", err)
	_, err = w.patch(w.cm("a"), `{}`)
	assert.True(t, api.IsConflict(err), "%v", err)
	_, err = w.patch(w.cm("a"), `{}`)
	assert.NoError(t, err)
}

// Events are the same objects in two groups, with different field names.
func TestEventsInTwoGroups(t *testing.T) {
	w := newWorld(t)
	o := w.make(w.at("events.events.k8s.io", "default", ""), `{"metadata":{"name":"e"},"eventTime":"2026-01-01T00:00:00.000000Z","action":"Test",
		"reason":"Tested","reportingController":"orrery.test/x","reportingInstance":"x-1","type":"Normal","note":"hello","regarding":{"namespace":"default","name":"p"}}`)
	stored := w.get(w.at("events", "default", "e"))
	assert.Equal(t, "hello", stored.NestedString("message"))
	assert.Equal(t, "p", stored.NestedString("involvedObject", "name"))
	assert.Equal(t, "/registry/events", w.at("events.events.k8s.io", "", "").Definition.Prefix)

	_, err := w.Patch(ctx, w.at("events.events.k8s.io", "default", "e"), func(e *api.Unstructured) (*api.Unstructured, error) {
		assert.Equal(t, "hello", e.NestedString("note"))
		assert.Equal(t, "events.k8s.io/v1", e.GetAPIVersion())
		return e, e.SetNested(map[string]any{"count": int64(2), "lastObservedTime": "2026-01-01T00:00:00.000000Z"}, "series")
	}, none)
	require.NoError(t, err)
	assert.Equal(t, int64(2), w.get(w.at("events", "default", "e")).NestedInt64("series", "count"))
	assert.NotNil(t, o)
}

func TestBind(t *testing.T) {
	w := newWorld(t)
	pod := w.at("pods", "default", "p")
	w.make(pod, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	require.NoError(t, w.Bind(ctx, pod, "n1", none))
	o := w.get(pod)
	assert.Equal(t, "n1", o.NestedString("spec", "nodeName"))
	refused(t, w.Bind(ctx, pod, "n2", none), 409, `Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"`)
	w.delete(pod, api.DeleteOptions{})
	refused(t, w.Bind(ctx, pod, "n2", none), 409, `Operation cannot be fulfilled on pods/binding "p": pod p is being deleted, cannot be assigned to a host`)
	refused(t, w.Bind(ctx, w.at("pods", "default", "q"), "n2", none), 404, `pods "q" not found`)
}
