package indexer_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/indexer"
)

func TestKnownKeyIsThatOfTheStore(t *testing.T) {
	x := indexer.New(indexer.Config[string]{KeyFunc: func(obj string) (string, error) { return obj, nil }})
	long := "namespace/" + strings.Repeat("x", 60)
	for _, key := range []string{"", "namespace/name", long, long + "y"} {
		_, known := x.KnownKey([]byte(key))
		assert.False(t, known, key)
		require.NoError(t, x.Add(key))
		got, known := x.KnownKey([]byte(key))
		assert.True(t, known, key)
		assert.Equal(t, key, got)
		assert.Same(t, unsafe.StringData(key), unsafe.StringData(got), "not a copy")
	}
	_, known := x.KnownKey([]byte(long + "z"))
	assert.False(t, known, "it differs where the table looks last")

	x.DeleteKey(long)
	_, known = x.KnownKey([]byte(long))
	assert.False(t, known, "it was deleted")
	_, known = x.KnownKey([]byte(long + "y"))
	assert.True(t, known, "which is not that one")
}

func TestKnownKeyDoesNotAllocate(t *testing.T) {
	x := indexer.New(indexer.Config[string]{KeyFunc: func(obj string) (string, error) { return obj, nil }})
	require.NoError(t, x.Add("namespace/name"))
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		var room [64]byte
		key := append(append(room[:0], "namespace/"...), "name"...)
		if _, known := x.KnownKey(key); !known {
			t.Fatal("not known")
		}
	}))
}
