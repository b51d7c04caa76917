package load

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIndexOfEachKey(t *testing.T) {
	for _, n := range []int{1, 2, 99, 100, 101, 250, 12_345} {
		keys := NewKeys(n, Uniform, 1)
		indexOf := keys.Index()
		for i, key := range keys.All() {
			require.Equal(t, i, indexOf(key), "%s, one of %d", key, n)
		}
	}
}

func TestIndexOfAnUnknownKey(t *testing.T) {
	keys := NewKeys(250, Uniform, 1)
	indexOf := keys.Index()
	other := NewKeys(10_000, Uniform, 1)
	for _, key := range []string{
		"", "-", "/", "namespace-", "namespace-0/x", "namespace-000/", "namespace-001/web-x", "namespace-001/web-00001",
		"namespace-0x1/web-00001", "namespace-1-00001/", "namespace-1111111111/web-00001", "x/y-1", other.Key(9_999),
		keys.Key(17) + "1", "x" + keys.Key(17),
	} {
		assert.Equal(t, -1, indexOf(key), "%q", key)
	}
}
