package story

import (
	"regexp"
	"testing"

	"orrery/internal/words"

	"github.com/stretchr/testify/assert"
	"go.yaml.in/yaml/v3"
)

// Both languages have all texts, and the same fields in each.
func TestBothLanguagesHaveTheSameFields(t *testing.T) {
	var rows []words.Text
	assert.NoError(t, yaml.Unmarshal(narration, &rows))
	for _, all := range sentences {
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
