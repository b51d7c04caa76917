package informer

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// managed is an object with managed fields.
type managed struct{ fields string }

func (m *managed) StripManagedFields() { m.fields = "" }

func TestStripManagedFields(t *testing.T) {
	obj := &managed{fields: "a lot"}
	got, err := StripManagedFields(obj)
	require.NoError(t, err)
	assert.Same(t, obj, got)
	assert.Empty(t, got.fields)
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
