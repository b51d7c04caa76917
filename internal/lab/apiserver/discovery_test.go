package apiserver

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/resources"
	"orrery/restclient/api"
)

func discoveryOf(t *testing.T, unavailable ...api.GroupVersion) *discoveryDocuments {
	t.Helper()
	return newDiscovery(resources.NewCatalog().Groups(), troubledVersions{Unavailable: unavailable}, "server:1")
}

func decodeDiscovery(t *testing.T, data []byte) (list api.APIGroupDiscoveryList) {
	t.Helper()
	require.NoError(t, json.Unmarshal(data, &list))
	return list
}

// testdata/aggregated.json is the document of kube-apiserver v1.36 for everything that it serves by
// default.
func TestAggregatedDiscoveryIsThatOfARealServer(t *testing.T) {
	text, err := os.ReadFile("testdata/aggregated.json")
	require.NoError(t, err)
	var real []api.APIGroupDiscoveryList
	require.NoError(t, json.Unmarshal(text, &real))
	ours := discoveryOf(t)
	for i, document := range [][]byte{ours.AggregatedCore.data, ours.AggregatedGroups.data} {
		assert.Equal(t, real[i], decodeDiscovery(t, document))
	}
}

// A group that does not answer is announced as stale.
func TestStaleVersions(t *testing.T) {
	known, other := api.GroupVersion{Group: "apps", Version: "v1"}, api.GroupVersion{Group: "apps", Version: "v2"}
	unknown := api.GroupVersion{Group: "metrics.k8s.io", Version: "v1beta1"}
	d := discoveryOf(t, known, other, unknown)
	for _, gv := range []api.GroupVersion{known, other, unknown} {
		assert.True(t, d.Stale(gv))
		_, ok := d.Resources(gv)
		assert.False(t, ok)
		_, ok = d.Group(gv.Group)
		assert.True(t, ok, "group not announced")
	}
	list := decodeDiscovery(t, d.AggregatedGroups.data)
	at := slices.IndexFunc(list.Items, func(g api.APIGroupDiscovery) bool { return g.Name == "apps" })
	assert.Equal(t, []api.APIVersionDiscovery{{Version: "v1", Freshness: "Stale"}, {Version: "v2", Freshness: "Stale"}}, list.Items[at].Versions)
	assert.Equal(t, "metrics.k8s.io", list.Items[len(list.Items)-1].Name)
	assert.False(t, discoveryOf(t).Stale(known), "the catalogue was changed")
}

func TestTheFormOfDiscovery(t *testing.T) {
	const v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	const v2beta1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
	const protobuf = "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	for accept, aggregated := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "application/json," + v2: false,
		v2beta1 + ",application/json":  false,
		protobuf + "," + v2:            true,
		protobuf + ",application/json": false,
		v2:                             true, v2beta1 + "," + v2 + ",application/json": true,
	} {
		assert.Equal(t, aggregated, wantsAggregated(http.Header{"Accept": {accept}}), accept)
	}
}
