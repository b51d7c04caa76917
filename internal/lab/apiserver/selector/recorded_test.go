package selector_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/selector"
)

// recorded is a selector and the message of kube-apiserver 1.36 in a list of pods, "" if it was
// accepted.
type recorded struct {
	Selector string `json:"selector"`
	Message  string `json:"message"`
}

func readRecorded(t testing.TB, name string) []recorded {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	var answers []recorded
	require.NoError(t, json.Unmarshal(data, &answers))
	require.NotEmpty(t, answers)
	return answers
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestLabelSelectorsAreAnsweredAsRecorded(t *testing.T) {
	for _, answer := range readRecorded(t, "labels.json") {
		_, err := selector.ParseLabels(answer.Selector)
		assert.Equal(t, answer.Message, messageOf(err), "%q", answer.Selector)
	}
}

func TestFieldSelectorsAreAnsweredAsRecorded(t *testing.T) {
	for _, answer := range readRecorded(t, "fields.json") {
		_, err := selector.ParseFields(answer.Selector)
		assert.Equal(t, answer.Message, messageOf(err), "%q", answer.Selector)
	}
}
