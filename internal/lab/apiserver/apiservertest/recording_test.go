package apiservertest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRecordingIsReadAsItWasWritten(t *testing.T) {
	script, err := ParseScript("sample", sample)
	require.NoError(t, err)
	answers := []*Answer{
		{
			Status:    201,
			Headers:   []Header{{"Content-Type", "application/json"}, {"Warning", `299 - "careful"`}},
			Documents: []any{map[string]any{"b": json.Number("1.50"), "a": "<&>"}},
		},
		{
			Status:    200,
			Headers:   []Header{{"Content-Type", "application/json;stream=watch"}},
			Documents: []any{map[string]any{"type": "ADDED"}, map[string]any{"type": "DELETED"}},
		},
		{Status: 404, Headers: []Header{{"Content-Type", "text/plain"}}, Text: "404 page not found\n\nat all"},
	}
	recording, err := ParseRecording(script, FormatRecording(script, answers))
	require.NoError(t, err)
	require.Len(t, recording.Answers, 3)
	for i, c := range script.Cases {
		assert.Equal(t, answers[i], recording.Answers[c.Title])
	}
}
