package registry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

func (w *world) update(t registry.Target, text string) (*api.Unstructured, error) {
	o, err := w.Update(ctx, t, tree(text), none)
	if err != nil {
		return nil, err
	}
	return o.Decode(), nil
}

// A patch is retried on the latest state, unless it names a version.
func TestPatchesAreRepeated(t *testing.T) {
	w := newWorld(t)
	w.make(w.cm(""), `{"metadata":{"name":"a"},"data":{"n":"0"}}`)
	disturb := func(times int) func(*api.Unstructured) (*api.Unstructured, error) {
		calls := 0
		return func(o *api.Unstructured) (*api.Unstructured, error) {
			if calls++; calls <= times {
				_, err := w.update(w.cm("a"), fmt.Sprintf(`{"metadata":{"name":"a"},"data":{"n":"%s%d"}}`,
					o.NestedString("data", "n"), calls))
				require.NoError(t, err)
			}
			return o, o.SetNested("patched", "data", "p")
		}
	}
	o, err := w.Patch(ctx, w.cm("a"), disturb(4), none)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"n": "01234", "p": "patched"}, o.Decode().NestedStringMap("data"))

	_, err = w.Patch(ctx, w.cm("a"), disturb(5), none)
	refused(t, err, 409,
		`Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again`)

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

// An update without a version is repeated as often as other writers are faster.
func TestUpdatesAreRepeated(t *testing.T) {
	asked := 0
	var w *world
	w = newWorld(t, func(c *registry.Config) {
		c.Admit = func(_ context.Context, a registry.Attributes) error {
			if a.Verb != "update" {
				return nil
			}
			if asked++; asked > 10 {
				return nil
			}
			_, err := w.patch(a.Target, fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}}}`, asked))
			return err
		}
	})
	w.make(w.cm(""), `{"metadata":{"name":"a"}}`)
	o, err := w.update(w.cm("a"), `{"metadata":{"name":"a"},"data":{"k":"v"}}`)
	require.NoError(t, err)
	assert.Equal(t, "v", o.NestedString("data", "k"))
	assert.Equal(t, 11, asked)
}

func TestContentWithoutItsNamespaceIsNotChanged(t *testing.T) {
	w := newWorld(t)
	w.make(w.ns(""), `{"metadata":{"name":"n"}}`)
	left := w.at("configmaps", "n", "a")
	w.make(left, `{"metadata":{"name":"a"}}`)
	w.delete(w.ns("n"), api.DeleteOptions{})
	_, err := w.update(w.ns("n", "finalize"), `{"metadata":{"name":"n"},"spec":{"finalizers":[]}}`)
	require.NoError(t, err)
	require.False(t, w.exists(w.ns("n")))
	_, err = w.update(left, `{"metadata":{"name":"a"},"data":{"k":"v"}}`)
	refused(t, err, 404, `namespaces "n" not found`)
	_, err = w.patch(left, `{"data":{"k":"v"}}`)
	refused(t, err, 404, `namespaces "n" not found`)
}

func TestAdmissionIsAskedLast(t *testing.T) {
	var asked []string
	denied := errors.New("no")
	w := newWorld(t, func(c *registry.Config) {
		c.Admit = func(_ context.Context, a registry.Attributes) error {
			if a.User == "" {
				return nil
			}
			asked = append(asked, a.Verb+" "+a.Name+" by "+a.User+" with "+a.Object.NestedString("data", "k"))
			return denied
		}
	})
	eve := registry.WriteOptions{User: "eve"}
	_, err := w.Create(ctx, w.cm(""), tree(`{"metadata":{"name":"UPPER"}}`), eve)
	assert.True(t, api.IsInvalid(err), "%v", err)
	_, err = w.Create(ctx, w.cm(""), tree(`{"metadata":{"name":"a"},"data":{"k":"1"}}`), eve)
	require.ErrorIs(t, err, denied)
	assert.False(t, w.exists(w.cm("a")))

	w.make(w.cm(""), `{"metadata":{"name":"a"},"data":{"k":"1"}}`)
	_, err = w.Update(ctx, w.cm("a"), tree(`{"metadata":{"name":"a"},"data":{"k":"2"}}`), eve)
	require.ErrorIs(t, err, denied)
	_, err = w.Patch(ctx, w.cm("a"), merge(`{"data":{"k":"3"}}`), eve)
	require.ErrorIs(t, err, denied)
	_, _, err = w.Delete(ctx, w.cm("a"), api.DeleteOptions{}, eve)
	require.ErrorIs(t, err, denied)
	assert.Equal(t, "1", w.get(w.cm("a")).NestedString("data", "k"))
	assert.Equal(t, []string{
		"create a by eve with 1", "update a by eve with 2", "patch a by eve with 3",
		"delete a by eve with 1",
	}, asked)
}

func (w *world) crd(name string) registry.Target {
	return w.at("customresourcedefinitions.apiextensions.k8s.io", "", name)
}

// condition formats a condition as "status reason: message".
func condition(o *api.Unstructured, kind string) string {
	conditions, _ := o.Nested("status", "conditions").([]any)
	for _, one := range conditions {
		c, _ := one.(map[string]any)
		if c["type"] == kind {
			return fmt.Sprintf("%v %v: %v", c["status"], c["reason"], c["message"])
		}
	}
	return ""
}

var cronTab = api.GroupVersionResource{Group: "stable.example.com", Version: "v1", Resource: "crontabs"}

// Removing the finalizer by force loses the objects without events.
func TestADefinitionWithoutItsFinalizer(t *testing.T) {
	w := newWorld(t)
	w.makeCronTabs()
	all := w.at("crontabs.stable.example.com", "default", "")
	w.make(all, `{"metadata":{"name":"held","finalizers":["a.b/c"]}}`)
	watch := w.watch(all, api.ListOptions{ResourceVersion: fmt.Sprint(w.store.Version())})
	w.delete(w.crd("crontabs.stable.example.com"), api.DeleteOptions{})
	_, err := w.patch(w.crd("crontabs.stable.example.com"), `{"metadata":{"finalizers":["x.y/z"]}}`)
	require.True(t, api.IsInvalid(err), "%v", err)
	_, err = w.patch(w.crd("crontabs.stable.example.com"), `{"metadata":{"finalizers":null}}`)
	require.NoError(t, err)
	assert.False(t, w.exists(w.crd("crontabs.stable.example.com")), "nothing holds the definition")
	reported := read(t, watch)
	assert.Equal(t, registry.ErrEnded.Error(), reported[len(reported)-1])
	assert.Len(t, reported, 2, "%v", reported)
}

func TestADefinitionMayHaveOtherFinalizers(t *testing.T) {
	w := newWorld(t)
	definition := tree(crontabs)
	require.NoError(t, definition.SetNested([]any{"a.b/c"}, "metadata", "finalizers"))
	_, err := w.Create(ctx, w.crd(""), definition, none)
	require.NoError(t, err)
	w.delete(w.crd("crontabs.stable.example.com"), api.DeleteOptions{})
	o := w.get(w.crd("crontabs.stable.example.com"))
	assert.Equal(t, []string{"a.b/c"}, o.GetFinalizers())
	assert.Equal(t, "False InstanceDeletionCompleted: removed all instances", condition(o, "Terminating"))
	_, err = w.patch(w.crd("crontabs.stable.example.com"), `{"metadata":{"finalizers":null}}`)
	require.NoError(t, err)
	assert.False(t, w.exists(w.crd("crontabs.stable.example.com")), "the last finalizer is gone")
	_, served := w.catalog.Lookup(cronTab)
	assert.False(t, served)
}

func (w *world) apiService(name string) registry.Target {
	return w.at("apiservices.apiregistration.k8s.io", "", name)
}

// unavailable reports whether a version is announced and does not answer.
func (w *world) unavailable(gv api.GroupVersion) bool {
	for _, group := range w.catalog.Groups() {
		for _, version := range group.Versions {
			if group.Name == gv.Group && version.Version == gv.Version {
				return version.Unavailable
			}
		}
	}
	return false
}

// Every group that this server serves has a local APIService.
func TestGroupsHaveLocalServices(t *testing.T) {
	w := newWorld(t)
	for _, group := range w.catalog.Groups() {
		if group.Name == "apiregistration.k8s.io" {
			continue
		}
		for _, version := range group.Versions {
			service := w.get(w.apiService(version.Version + "." + group.Name))
			assert.Equal(t, "True Local: Local APIServices are always available", condition(service, "Available"))
			assert.Equal(t, "onstart", service.GetLabels()["kube-aggregator.kubernetes.io/automanaged"])
		}
	}
}
