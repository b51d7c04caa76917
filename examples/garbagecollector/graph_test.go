package garbagecollector

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/restclient/api"
)

// A server may show again what it did not have: etcd was restored, or an aggregated server is back.
// Then the owner is not absent any more, and it is once more when it goes.
func TestAnOwnerThatIsThereAgain(t *testing.T) {
	var queued []string
	g := &graph{queue: func(uid string) { queued = append(queued, uid) }, nodes: map[string]*node{}}
	configMaps := &Resource{GroupVersionResource: api.ConfigMapsResource, Kind: "ConfigMap", Namespaced: true}
	reference := api.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "o"}
	owner := &api.PartialObjectMetadata{ObjectMeta: api.ObjectMeta{Namespace: "n", Name: "owner", UID: "o"}}
	child := &api.PartialObjectMetadata{ObjectMeta: api.ObjectMeta{
		Namespace: "n", Name: "child", UID: "c", OwnerReferences: []api.OwnerReference{reference},
	}}
	absent := func() place {
		n, _ := g.look("o")
		return n.absentAt
	}

	g.observe(configMaps, child)
	g.setAbsent("o", placeOf(reference, "n"))
	assert.Equal(t, []string{"c"}, queued)
	assert.Equal(t, placeOf(reference, "n"), absent())

	g.observe(configMaps, owner)
	assert.Zero(t, absent())
	assert.Empty(t, g.pending())
	g.forget(configMaps, "o")
	assert.Equal(t, []string{"c", "c"}, queued)
	assert.Equal(t, []string{"c"}, g.pending())
	assert.Zero(t, absent(), "the server is asked again")

	g.forget(configMaps, "c")
	assert.Empty(t, g.nodes, "nothing refers to the owner any more")
}

func TestMonitorsKeepNoMoreThanTheyNeed(t *testing.T) {
	labels := map[string]string{"a": "b"}
	meta := api.ObjectMeta{Name: "o", Labels: labels, Annotations: labels}
	object, err := strip(&api.PartialObjectMetadata{ObjectMeta: meta})
	assert.NoError(t, err)
	assert.Equal(t, api.ObjectMeta{Name: "o"}, object.ObjectMeta)
	assert.False(t, new(monitors).hasSynced(), "no type is known")
}
