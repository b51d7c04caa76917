package view

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Both languages have the same sentences, with the same placeholders.
func TestBothLanguagesHaveTheSameStrings(t *testing.T) {
	read := func(name string) (all map[string]string) {
		require.NoError(t, json.Unmarshal([]byte(readPage(name)), &all))
		return all
	}
	english, chinese := read("strings.en.json"), read("strings.zh-CN.json")
	placeholder := regexp.MustCompile(`\{[^}]*\}`)
	count := func(text string) map[string]int {
		all := map[string]int{}
		for _, found := range placeholder.FindAllString(text, -1) {
			all[found]++
		}
		return all
	}
	for name, text := range english {
		assert.Contains(t, chinese, name)
		assert.Equal(t, count(text), count(chinese[name]), "placeholders of %s", name)
	}
	assert.Len(t, chinese, len(english))
}
