package resources

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

// The stored objects of a resource are found even if no version is served.
func TestAResourceThatIsNotServedIsStored(t *testing.T) {
	crd := &api.Unstructured{}
	require.NoError(t, crd.UnmarshalJSON([]byte(`{"metadata":{"name":"crontabs.stable.example.com"},"spec":{"group":"stable.example.com",
		"scope":"Namespaced","names":{"plural":"crontabs","kind":"CronTab"},"versions":[
		{"name":"v1alpha1","served":false,"storage":false},{"name":"v1","served":false,"storage":true}]}}`)))
	d, err := StoredAs(crd)
	require.NoError(t, err)
	assert.Equal(t, "v1", d.Version)
	assert.Equal(t, "crontabs.stable.example.com", d.Qualified())
	assert.True(t, d.Custom && d.Namespaced)
	assert.Equal(t, "/registry/stable.example.com/crontabs", d.Prefix)
	assert.Equal(t, d.Prefix, CustomPrefix(crd.GetName()))
	served, err := customDefinitions(crd)
	require.NoError(t, err)
	assert.Empty(t, served)

	crd.RemoveNested("spec", "versions")
	_, err = StoredAs(crd)
	assert.ErrorContains(t, err, "crontabs.stable.example.com has no storage version")
}
