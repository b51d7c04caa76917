package house_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// inChinese is the ending of a page in Chinese; the same page in English ends in .md.
const inChinese = ".zh-CN.md"

// entrances are pages whose Chinese form has a text of its own, because it leads to Chinese pages.
var entrances = []string{"README.md", "workshop/README.md"}

// Every Chinese page has the headings and the code blocks of its English page, and each leads to
// the other.
func TestBothLanguagesAgree(t *testing.T) {
	pages := 0
	for _, name := range documents(t) {
		english, ok := strings.CutSuffix(name, inChinese)
		if !ok {
			continue
		}
		pages++
		english += ".md"
		en, zh := readDocument(t, english), readDocument(t, name)
		if !slices.Contains(entrances, english) {
			assert.Equal(t, headings(en), headings(zh), "the levels of the headings of %s", name)
			assert.Equal(t, parseMarkdown(en).blocks, parseMarkdown(zh).blocks, "the code blocks of %s", name)
		}
		assert.True(t, strings.Contains(en, "]("+filepath.Base(name)+")"), "%s has to lead to the Chinese page", english)
		assert.True(t, strings.Contains(zh, "]("+filepath.Base(english)+")"), "%s has to lead to the English page", name)
	}
	assert.GreaterOrEqual(t, pages, 12, "the pages were found")
}

// headings returns the levels of a page's headings.
func headings(text string) (levels []int) {
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if title := strings.TrimLeft(line, "#"); !fenced && title != line && strings.HasPrefix(title, " ") {
			levels = append(levels, len(line)-len(title))
		}
	}
	return levels
}
