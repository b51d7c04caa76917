package house_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// The Chinese entrance leads to every Chinese page of docs, and to the workshop, which lists its
// own.
func TestTheChineseEntranceIsComplete(t *testing.T) {
	entrance := readDocument(t, "README"+inChinese)
	wanted := []string{"workshop/README" + inChinese, "workshop/teach/README" + inChinese}
	for _, name := range documents(t) {
		if strings.HasPrefix(name, "docs/") && strings.HasSuffix(name, inChinese) {
			wanted = append(wanted, name)
		}
	}
	for _, name := range wanted {
		assert.True(t, strings.Contains(entrance, "]("+name+")"), "README.zh-CN.md has to lead to %s", name)
	}
}

var (
	// wideForm matches a character of Chinese text, with its punctuation.
	wideForm = `[\p{Han}，。；：、？！（）《》“”…]`
	// wrongSpace matches a line break at a place where Chinese has no space: a code host and a
	// terminal show one there.
	wrongSpace = regexp.MustCompile(`(` + wideForm + `\**\n *\**` + wideForm + `|[，。；：、？！）》”]\**\n *\S|\S\n *[（《“])`)
)

// wrongSpaces returns a problem for each line break inside a Chinese paragraph that becomes a space
// where none belongs.
func wrongSpaces(from, text string) (problems []string) {
	for paragraph := range strings.SplitSeq(strings.Join(proseParagraphs(text), "\n\n"), "\n\n") {
		for _, found := range wrongSpace.FindAllString(paragraph, -1) {
			problems = append(problems, fmt.Sprintf("%s: the line break in %q becomes a space", from, found))
		}
	}
	return problems
}

var itemForm = regexp.MustCompile(`^ *([-*]|\d+\.) `)

// proseParagraphs returns the paragraphs and list items of a page, with their line breaks.
func proseParagraphs(text string) (paragraphs []string) {
	var lines []string
	end := func() {
		if len(lines) > 0 {
			paragraphs = append(paragraphs, strings.Join(lines, "\n"))
		}
		lines = nil
	}
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			fenced = !fenced
		}
		if fence || fenced || strings.TrimSpace(line) == "" || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "#") {
			end()
			continue
		}
		if itemForm.MatchString(line) {
			end()
		}
		lines = append(lines, line)
	}
	end()
	return paragraphs
}

func TestChineseHasNoSpacesFromLineBreaks(t *testing.T) {
	for _, name := range documents(t) {
		if strings.HasSuffix(name, inChinese) {
			for _, problem := range wrongSpaces(name, readDocument(t, name)) {
				t.Error(problem)
			}
		}
	}
	assert.Len(t, wrongSpaces("a", "它由\n两部分"), 1)
	assert.Len(t, wrongSpaces("a", "- 由 goroutine，\nworker 来做"), 1)
	assert.Len(t, wrongSpaces("a", "它叫 goroutine\n（协程）"), 1)
	assert.Empty(t, wrongSpaces("a", "先写 goroutine\n再写 worker\n- 一\n- 二\n\n三\n```\n四\n五\n```\n| 六 |\n| 七 |\n"))
}

// The two pictures of the first hour differ in their words alone.
func TestThePicturesOfBothLanguagesAgree(t *testing.T) {
	words := regexp.MustCompile(`(<text[^>]*>)[^<]*(</text>)`)
	var pictures []string
	for _, name := range []string{"first-hour.svg", "first-hour.zh-CN.svg"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", "learn", name))
		require.NoError(t, err)
		_, drawing, _ := strings.Cut(string(text), "<style>")
		pictures = append(pictures, words.ReplaceAllString(drawing, "$1$2"))
	}
	assert.Equal(t, pictures[0], pictures[1])
}

// otherWords are words that mean the same as a word of the glossary, which is used instead.
var otherWords = map[string]string{
	"重新列取": "重新列举", "重新 List": "重新列举", "重新 list": "重新列举", "重同步": "重新同步", "重新 resync": "重新同步",
	"书签": "bookmark", "垃圾回收": "垃圾收集", "最后状态": "最终状态", "调用者": "调用方", "拥有者": "属主", "快速形式": "快速实现",
	"教科书形式": "教科书实现", "回退": "退避", "限流": "限速", "名字空间": "命名空间", "电平触发": "水平触发", "脏键": "待处理的键",
	"API 服务器": "API server", "丢掉历史": "忘掉历史", "丢掉了历史": "忘掉了历史", "个增量": "条增量",
}

// Chinese has one word for each thing, on pages, in the workshop's texts and in messages.
func TestChineseHasOneWordForEachThing(t *testing.T) {
	files := []string{"internal/lab/labs/texts/messages.yaml"}
	for _, name := range documents(t) {
		if strings.HasSuffix(name, inChinese) {
			files = append(files, name)
		}
	}
	for _, pattern := range []string{"workshop/*.yaml", "workshop/labs/*/*.yaml"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		for _, file := range found {
			relative, err := filepath.Rel(root, file)
			require.NoError(t, err)
			files = append(files, filepath.ToSlash(relative))
		}
	}
	for _, name := range files {
		text := readDocument(t, name)
		for other, word := range otherWords {
			if strings.Contains(text, other) {
				t.Errorf("%s says %s; the word is %s", name, other, word)
			}
		}
	}
}
