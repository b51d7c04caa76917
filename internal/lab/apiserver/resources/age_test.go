package resources

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The ages that kube-apiserver showed in date columns of a custom resource.
func TestAgesAreWrittenAsRecorded(t *testing.T) {
	data, err := os.ReadFile("testdata/durations.json")
	require.NoError(t, err)
	var recorded []struct {
		Seconds int    `json:"seconds"`
		Text    string `json:"text"`
	}
	require.NoError(t, json.Unmarshal(data, &recorded))
	require.NotEmpty(t, recorded)
	now := time.Now().Truncate(time.Second)
	for _, r := range recorded {
		moment := now.Add(-time.Duration(r.Seconds) * time.Second).UTC().Format(time.RFC3339)
		later := now.Add(300 * time.Millisecond) // as in the recordings: timestamps have whole seconds, now does not
		assert.Equal(t, r.Text, ageOf(moment, later), "%d s", r.Seconds)
	}
	assert.Equal(t, "<unknown>", ageOf("", now))
	assert.Equal(t, "<unknown>", ageOf("soon", now))
}
