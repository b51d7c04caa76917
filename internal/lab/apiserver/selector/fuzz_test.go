package selector_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/apiserver/selector"
)

// String is the inverse of parsing.
func FuzzParseLabels(f *testing.F) {
	for _, answer := range readRecorded(f, "labels.json") {
		f.Add(answer.Selector)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := selector.ParseLabels(text)
		if err != nil {
			return
		}
		second, err := selector.ParseLabels(first.String())
		require.NoError(t, err, "%q was written as %q", text, first.String())
		assert.Equal(t, first, second)
		assert.Equal(t, first.Matches(map[string]string{"a": "b"}), second.Matches(map[string]string{"a": "b"}))
	})
}

func FuzzParseFields(f *testing.F) {
	for _, answer := range readRecorded(f, "fields.json") {
		f.Add(answer.Selector)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := selector.ParseFields(text)
		if err != nil {
			return
		}
		second, err := selector.ParseFields(first.String())
		require.NoError(t, err, "%q was written as %q", text, first.String())
		assert.Equal(t, first, second)
	})
}
