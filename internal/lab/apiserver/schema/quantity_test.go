package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/apiserver/schema"
)

// The forms are those in which kube-apiserver stores the amounts; random ones are compared in upstream/apiserver/contract.
func TestQuantitiesAreStoredInOneForm(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "1": "1", "-1": "-1", "+5": "5", "1000m": "1", "1500m": "1500m", "0.5": "500m", ".5": "500m", "1000": "1k", "1024": "1024", "1000000": "1M", "0.0000000001": "1n", "-0.0000000001": "-1n",
		"1024Mi": "1Gi", "1.5Gi": "1536Mi", "0.5Ki": "512", "1.1Ki": "1126400m", "1023": "1023", "2Ei": "2Ei", "16Ei": "9223372036854775807", "1000E": "1000E", "1e3": "1e3", "1E4": "10e3", "1e-2": "10e-3", "5e0": "5",
		"Mi": "0", " 1 ": "1", "1e5000": "1e5000",
		"11111111111111111111111111111111111111111111111111111111111111111": "11111111111111111111111111111111111111111111111111111111111111111",
	} {
		assert.Equal(t, want, schema.CanonicalQuantity(text), text)
	}
	quota := typeOf(t, "v1", "ResourceQuota")
	tree := decode(t, `{"spec":{"hard":{"a":1,"b":1.5,"c":"1000m","d":null}}}`)
	quota.Prune(tree)
	assert.Equal(t, decode(t, `{"spec":{"hard":{"a":"1","b":"1500m","c":"1","d":"0"}}}`), tree)
}
