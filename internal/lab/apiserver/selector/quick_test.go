package selector_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/internal/lab/apiserver/selector"
)

// A selector is the conjunction of its conditions, and negated operators are the complement.
func TestQuickConditionsAndTheirOpposites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]string{"a", "b", "x/c"})
		value := rapid.SampledFrom([]string{"", "1", "2", "v"})
		labels := rapid.MapOf(key, value).Draw(t, "labels")
		k, v, w := key.Draw(t, "key"), value.Draw(t, "value"), value.Draw(t, "other")
		matches := func(text string) bool {
			s, err := selector.ParseLabels(text)
			require.NoError(t, err, "%q", text)
			return s.Matches(labels)
		}
		assert.Equal(t, matches(k), !matches("!"+k))
		assert.Equal(t, matches(k+"="+v), !matches(k+"!="+v))
		assert.Equal(t, matches(k+" in ("+v+","+w+")"), !matches(k+" notin ("+w+","+v+")"))
		assert.Equal(t, matches(k+"="+v) || matches(k+"="+w), matches(k+" in ("+v+","+w+")"))
		assert.Equal(t, matches(k+"="+v) && matches("a"), matches(k+"="+v+",a"))
	})
}
