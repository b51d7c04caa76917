package demo

import (
	"fmt"
	"regexp"
	"testing"

	"orrery/internal/words"

	"github.com/stretchr/testify/assert"
	"go.yaml.in/yaml/v3"
)

// Both languages have all sentences of events, and the same fields in each.
func TestBothLanguagesHaveTheSameFields(t *testing.T) {
	fields := regexp.MustCompile(`\{\w+\}`)
	for _, rows := range sentences() {
		for _, row := range rows {
			assert.True(t, row.Complete(), row)
			assert.ElementsMatch(t, fields.FindAllString(row.English, -1), fields.FindAllString(row.Chinese, -1), row)
		}
	}
}

// Both languages have all formats, and each takes the arguments of the English one: neither more
// nor less.
func TestNarrationIsFormatted(t *testing.T) {
	values := map[byte]any{'d': 1, 'f': 1.5, 't': true, 's': "text", 'q': "text", 'v': "text"}
	verb, index := regexp.MustCompile(`%[-.\d]*[a-z]`), regexp.MustCompile(`\[\d\]`)
	verbs := func(text string) []string { return verb.FindAllString(index.ReplaceAllString(text, ""), -1) }
	var rows []words.Text
	assert.NoError(t, yaml.Unmarshal(narration, &rows))
	for _, row := range rows {
		assert.True(t, row.Complete(), row)
		assert.ElementsMatch(t, verbs(row.English), verbs(row.Chinese), row)
		var args []any
		for _, verb := range verbs(row.English) {
			args = append(args, values[verb[len(verb)-1]])
		}
		for _, format := range []string{row.English, row.Chinese} {
			assert.NotContains(t, fmt.Sprintf(format, args...), "%!", format)
		}
	}
}
