package registry_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

func (w *world) apiService(name string) registry.Target {
	return w.at("apiservices.apiregistration.k8s.io", "", name)
}

// A group whose server is gone stays in discovery and does not answer: the classic reason for a namespace that hangs.
func TestAGroupOfAServerThatIsNotThere(t *testing.T) {
	w := newWorld(t)
	group := api.GroupVersion{Group: "metrics.example.com", Version: "v1beta1"}
	w.make(w.apiService(""), `{"metadata":{"name":"v1beta1.metrics.example.com"},"spec":{"group":"metrics.example.com","version":"v1beta1",
		"groupPriorityMinimum":100,"versionPriority":10,"service":{"name":"nope","namespace":"default"}}}`)
	assert.True(t, w.catalog.Unavailable(group))
	assert.Equal(t, `False ServiceNotFound: service/nope in "default" is not present`,
		condition(w.get(w.apiService("v1beta1.metrics.example.com")), "Available"))

	w.make(w.at("services", "default", ""), `{"metadata":{"name":"nope"},"spec":{"ports":[{"port":443}]}}`)
	_, err := w.patch(w.apiService("v1beta1.metrics.example.com"), `{"metadata":{"labels":{"touched":"yes"}}}`)
	require.NoError(t, err)
	assert.Contains(t, condition(w.get(w.apiService("v1beta1.metrics.example.com")), "Available"), "False MissingEndpoints: ")
	assert.True(t, w.catalog.Unavailable(group))

	w.delete(w.apiService("v1beta1.metrics.example.com"), api.DeleteOptions{})
	assert.False(t, w.catalog.Unavailable(group))
}

func TestAGroupThatIsServedHere(t *testing.T) {
	w := newWorld(t)
	w.make(w.apiService(""), `{"metadata":{"name":"v1.apps"},"spec":{"group":"apps","version":"v1","groupPriorityMinimum":100,"versionPriority":10}}`)
	assert.Equal(t, "True Local: Local APIServices are always available", condition(w.get(w.apiService("v1.apps")), "Available"))
	assert.False(t, w.catalog.Unavailable(api.GroupVersion{Group: "apps", Version: "v1"}))
}
