package apiserver

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
