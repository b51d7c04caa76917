package informer

import (
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

func TestWhatIsNil(t *testing.T) {
	for _, nothing := range []any{nil, (*api.Namespace)(nil), map[string]any(nil)} {
		assert.True(t, isNil(nothing), "%T", nothing)
	}
	for _, something := range []any{&api.Namespace{}, map[string]any{}, struct{}{}} {
		assert.False(t, isNil(something), "%T", something)
	}
}
