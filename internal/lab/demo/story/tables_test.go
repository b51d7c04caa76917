package story

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"orrery/internal/words"

	"github.com/stretchr/testify/assert"
	"go.yaml.in/yaml/v3"
)

// Both languages have all texts, and the same fields in each.
func TestBothLanguagesHaveTheSameFields(t *testing.T) {
	var rows []words.Text
	assert.NoError(t, yaml.Unmarshal(narration, &rows))
	for _, all := range sentences() {
		for _, row := range all {
			rows = append(rows, row.Text)
		}
	}
	fields := regexp.MustCompile(`\{\w+\}|%[.\d]*[a-z]`)
	index := regexp.MustCompile(`\[\d\]`)
	of := func(text string) []string { return fields.FindAllString(index.ReplaceAllString(text, ""), -1) }
	for _, row := range rows {
		assert.True(t, row.Complete(), row)
		assert.ElementsMatch(t, of(row.English), of(row.Chinese), row)
	}
}

// Each format takes the arguments of the English one. An index of a verb stands between its
// precision and its letter: %.1[3]f.
func TestNarrationIsFormatted(t *testing.T) {
	values := map[byte]any{'d': 1, 'f': 1.5, 't': true, 's': "text", 'q': "text", 'v': "text"}
	for english, chinese := range translations() {
		var args []any
		for _, verb := range regexp.MustCompile(`%[-.\d]*[a-z]`).FindAllString(english, -1) {
			args = append(args, values[verb[len(verb)-1]])
		}
		for _, format := range []string{english, chinese} {
			if strings.Contains(format, "%") {
				assert.NotContains(t, fmt.Sprintf(format, args...), "%!", format)
			}
		}
	}
}
