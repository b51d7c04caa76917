package registry_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

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
