package apiserver

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

// kubectl's Accept header for a table, with fallbacks for older servers.
const kubectlTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"

// Only the beginning of a long header is parsed.
func TestLongHeaders(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	for range 1000 {
		r.Header.Add("Accept", "text/html")
	}
	r.Header.Add("Accept", "application/json")
	_, refusal := negotiate(r, formRules{})
	assert.Equal(t, unknownTypes, refusal)
}
