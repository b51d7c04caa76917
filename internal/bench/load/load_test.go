package load_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/bench/load"
)

func TestKeysAreDistinctAndLookLikeThoseOfACluster(t *testing.T) {
	keys := load.NewKeys(250_000, load.Uniform, 1)
	seen := make(map[string]bool, keys.Len())
	for _, key := range keys.All() {
		if seen[key] {
			t.Fatal("twice: ", key)
		}
		seen[key] = true
	}
	assert.Regexp(t, `^namespace-\d{3}/[a-z]+-[a-z0-9]{10}-\d{5}$`, keys.Key(4217))
}
