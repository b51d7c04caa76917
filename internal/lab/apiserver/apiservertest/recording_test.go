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

func TestBadRecordingsAreRefused(t *testing.T) {
	script, err := ParseScript("one", "=== a\nGET /")
	require.NoError(t, err)
	for text, problem := range map[string]string{
		"":                                 `"a" was not recorded`,
		"=== a\nHTTP 200\n=== b\nHTTP 200": "2 answers for 1 cases",
		"=== a":                            "is empty",
		"=== a\nSTATUS 200":                `"STATUS 200" is not a status`,
		"=== a\nHTTP 200\nno header":       `"no header" is no header`,
		"=== a\nHTTP 200\nContent-Type: application/json\n\n{a": "document 1",
		"=== a\nHTTP 200\n=== a\nHTTP 200":                      "two cases",
	} {
		_, err := ParseRecording(script, text)
		assert.ErrorContains(t, err, problem, text)
	}
	_, err = RecordingOf(script)
	assert.Error(t, err, "no such file")
}
