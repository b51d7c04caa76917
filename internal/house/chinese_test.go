package house_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"orrery/internal/lab/labs/bilingual"
)

// inChinese is the ending of a page in Chinese; the same page in English ends in .md.
const inChinese = ".zh-CN.md"

// entrances are pages whose Chinese form has a text of its own, because it leads to Chinese pages.
var entrances = []string{"README.md", "workshop/README.md"}

// Every Chinese page says what its English page says, and each leads to the other.
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
			for _, problem := range bilingual.Differences(bilingual.Parse(en), bilingual.Parse(zh)) {
				t.Errorf("%s: %s", name, problem)
			}
		}
		assert.True(t, strings.Contains(en, "]("+filepath.Base(name)+")"), "%s has to lead to the Chinese page", english)
		assert.True(t, strings.Contains(zh, "]("+filepath.Base(english)+")"), "%s has to lead to the English page", name)
	}
	assert.GreaterOrEqual(t, pages, 12, "the pages were found")
}
