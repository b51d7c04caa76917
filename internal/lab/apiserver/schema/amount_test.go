package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"orrery/internal/lab/apiserver/schema"
)

// The expected forms are those that kube-apiserver stores. upstream/apiserver/contract compares
// random quantities.
func TestAmountsAreStoredInOneForm(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "1": "1", "-1": "-1", "+5": "5", "1000m": "1", "1500m": "1500m", "0.5": "500m", ".5": "500m", "1000": "1k", "1024": "1024", "1000000": "1M", "0.0000000001": "1n", "-0.0000000001": "-1n",
		"1024Mi": "1Gi", "1.5Gi": "1536Mi", "0.5Ki": "512", "1.1Ki": "1126400m", "1023": "1023", "2Ei": "2Ei", "16Ei": "9223372036854775807", "1000E": "1000E", "1e3": "1e3", "1E4": "10e3", "1e-2": "10e-3", "5e0": "5",
		"Mi": "0", " 1 ": "1",
	} {
		amount, ok := schema.ParseAmount(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, amount.String(), text)
	}
	quota := typeOf(t, "v1", "ResourceQuota")
	tree := decode(t, `{"spec":{"hard":{"a":1,"b":1.5,"c":"1000m","d":null,"e":"1e5000"}}}`)
	quota.Prune(tree)
	assert.Equal(t, decode(t, `{"spec":{"hard":{"a":"1","b":"1500m","c":"1","d":"0","e":"1e5000"}}}`), tree)
}

// A canonical quantity is the same amount, rounded up to 1n, and String is idempotent.
func TestQuickAmounts(t *testing.T) {
	units := []string{"e3", "E-2", "e0", "Ki", "Mi", "Gi", "Ti", "n", "u", "m", "", "k", "M", "G", "T", "P", "E"}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{1,6}(\.[0-9]{1,6})?`).Draw(t, "number") + rapid.SampledFrom(units).Draw(t, "unit")
		amount, ok := schema.ParseAmount(text)
		require.True(t, ok, text)
		again, ok := schema.ParseAmount(amount.String())
		require.True(t, ok, amount.String())
		assert.Equal(t, amount.String(), again.String())
		assert.Equal(t, 0, amount.Rounded(-9).Cmp(again), "%s became %s", text, amount)
	})
	// As kube-apiserver stored them in a LimitRange.
	for text, want := range map[string]string{
		"1000m": "1", "1000000000": "1G", "1024Mi": "1Gi", "0.5": "500m", "0": "0", "0Gi": "0", "1500m": "1500m", "1e3": "1e3",
		"12e2": "1200", "1.5e3": "1500", "1e-3": "1e-3", "0.5Gi": "512Mi", "100Ki": "100Ki", "1.5Mi": "1536Ki", "1n": "1m",
		"0.1n": "1m", "1025": "1025", "906.25Ki": "928000", "1023Ki": "1023Ki", "0.001Ki": "1024m", "1000Ki": "1000Ki",
		"1.1": "1100m", "1E": "1E", "1e6": "1e6", "12345e2": "1234500", "100e-3": "100e-3", "1000k": "1M",
		"1.2345678901": "1235m", "2000Mi": "2000Mi", "3000Gi": "3000Gi", "0.0001Ki": "103m", "1024": "1024", "2048Ki": "2Mi",
		"1e9": "1e9", "10e6": "10e6", "1e1": "10",
	} {
		q, ok := schema.ParseAmount(text)
		require.True(t, ok, text)
		assert.Equal(t, want, q.Rounded(-3).String(), text)
	}
	for _, text := range []string{"", "x", "1x", "1e3Mi", "1.2.3", "--1", "1e5000"} {
		_, ok := schema.ParseAmount(text)
		assert.False(t, ok, text)
	}
	_, ok := schema.ParseAmount(true)
	assert.False(t, ok)
}
