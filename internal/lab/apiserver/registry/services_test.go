package registry_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/registry"
	"orrery/restclient/api"
)

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

// A group whose server is gone stays in discovery and does not answer: the classic reason for a
// stuck namespace.
func TestAGroupOfAServerThatIsNotThere(t *testing.T) {
	w := newWorld(t)
	group := api.GroupVersion{Group: "metrics.example.com", Version: "v1beta1"}
	w.make(w.apiService(""), `{"metadata":{"name":"v1beta1.metrics.example.com"},"spec":{"group":"metrics.example.com","version":"v1beta1",
		"groupPriorityMinimum":100,"versionPriority":10,"service":{"name":"nope","namespace":"default"}}}`)
	assert.True(t, w.unavailable(group))
	assert.Equal(t, `False ServiceNotFound: service/nope in "default" is not present`,
		condition(w.get(w.apiService("v1beta1.metrics.example.com")), "Available"))

	w.make(w.at("services", "default", ""), `{"metadata":{"name":"nope"},"spec":{"ports":[{"port":443}]}}`)
	assert.Equal(t, `False EndpointsNotFound: cannot find endpointslices for service/nope in "default"`,
		condition(w.get(w.apiService("v1beta1.metrics.example.com")), "Available"))
	assert.True(t, w.unavailable(group))

	w.delete(w.apiService("v1beta1.metrics.example.com"), api.DeleteOptions{})
	assert.False(t, w.unavailable(group))
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

// APIServices of custom resources come and go with them, and are created again after a deletion.
func TestGroupsOfCustomResourcesHaveLocalServices(t *testing.T) {
	w := newWorld(t)
	services := func() (names []string) {
		for _, o := range w.list(w.apiService(""), api.ListOptions{}).Items {
			if strings.HasSuffix(o.Key.Name, "example.com") {
				names = append(names, o.Key.Name)
			}
		}
		return names
	}
	w.makeCronTabs()
	defined := services()
	require.NotEmpty(t, defined)
	w.delete(w.apiService(defined[0]), api.DeleteOptions{})
	assert.Equal(t, defined, services())
	w.delete(w.crd("crontabs.stable.example.com"), api.DeleteOptions{})
	assert.Empty(t, services())
}
