package informer

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/restclient/api"
)

func TestStripManagedFields(t *testing.T) {
	ns := &api.Namespace{}
	ns.Name, ns.ManagedFields = "a", api.NewManagedFields([]byte(`[{"manager":"kubectl"}]`))
	strip := StripManagedFields(func(ns *api.Namespace) *api.ObjectMeta { return &ns.ObjectMeta })
	got, err := strip(ns)
	require.NoError(t, err)
	assert.Same(t, ns, got)
	assert.Equal(t, api.ObjectMeta{Name: "a"}, got.ObjectMeta)
}

func TestStripUnstructuredManagedFields(t *testing.T) {
	obj := &api.Unstructured{}
	require.NoError(t, obj.UnmarshalJSON([]byte(`{"kind":"X","metadata":{"name":"a","managedFields":[{"manager":"kubectl"}]}}`)))
	got, err := StripUnstructuredManagedFields(obj)
	require.NoError(t, err)
	text, err := got.MarshalJSON()
	require.NoError(t, err)
	assert.JSONEq(t, `{"kind":"X","metadata":{"name":"a"}}`, string(text))
}

func TestChainTransforms(t *testing.T) {
	refused := errors.New("refused")
	double := func(n int) (int, error) { return 2 * n, nil }
	refuseFour := func(n int) (int, error) {
		if n == 4 {
			return n, refused
		}
		return n, nil
	}
	chain := ChainTransforms(double, nil, refuseFour, double)
	got, err := chain(1)
	require.NoError(t, err)
	assert.Equal(t, 4, got)
	got, err = chain(2)
	require.ErrorIs(t, err, refused)
	assert.Equal(t, 4, got, "what comes after an error is not run")

	got, err = ChainTransforms[int]()(7)
	require.NoError(t, err)
	assert.Equal(t, 7, got)
}
