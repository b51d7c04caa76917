package course_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course"
	"orrery/internal/words"
)

// repository is the root of the repository.
const repository = "../../.."

// glossary is workshop/glossary.yaml: the terms of the course in both languages.
type glossary struct {
	// Title and Intro begin the pages in docs/learn.
	Title words.Text `yaml:"title"`
	Intro words.Text `yaml:"intro"`
	// View has the terms of each box of the live view, by their English names: first what the box is.
	View map[string][]string `yaml:"view"`
	// Terms are in alphabetical order of the English terms.
	Terms []term `yaml:"terms"`
}

// term is a term with its meaning.
type term struct {
	Name       words.Text `yaml:"term"`
	words.Text `yaml:",inline"`
	// Not is what the term is not to be confused with.
	Not words.Text `yaml:"not"`
	// Labs are the ids of the labs that explain it.
	Labs []string `yaml:"labs"`
	// Code is a file, or a declaration in it as in "deltafifo/fifo.go: DeltaFIFO.Pop".
	Code string `yaml:"code"`
}

func load(t *testing.T) (g glossary) {
	t.Helper()
	require.NoError(t, course.Read(filepath.Join(repository, "workshop/glossary.yaml"), &g))
	return g
}

var update = flag.Bool("update", false, "write the pages of the glossary and the terms of the live view")

// compare compares a file of the repository with what it has to hold, or writes it.
func compare(t *testing.T, file, want string) {
	t.Helper()
	file = filepath.Join(repository, filepath.FromSlash(file))
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, want, string(text), `type "make glossary"`)
}

func TestThePagesAreWrittenFromTheGlossary(t *testing.T) {
	g := load(t)
	compare(t, "docs/learn/glossary.md", g.markdown(words.English, words.Chinese, "[中文](glossary.zh-CN.md)",
		"| term | in Chinese | meaning | labs | code |", " Not ", "."))
	compare(t, "docs/learn/glossary.zh-CN.md", g.markdown(words.Chinese, words.English, "[English](glossary.md)",
		"| 术语 | 英文 | 含义 | 实验 | 代码 |", "别和它混淆：", "。"))
}

// markdown returns the page in a language. The last arguments are the heading of the table, what
// stands before the confusion, and the end of a sentence.
func (g glossary) markdown(lang, other words.Lang, link, head, not, stop string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n%s\n\n%s\n| --- | --- | --- | --- | --- |\n", g.Title.In(lang), link,
		g.Intro.In(lang), head)
	for _, term := range g.Terms {
		meaning := term.In(lang)
		if term.Not.Complete() {
			meaning += not + term.Not.In(lang) + stop
		}
		file, name, declared := strings.Cut(term.Code, ": ")
		code := fmt.Sprintf("[%s](%s)", file, path.Join("../..", file))
		if declared {
			code += ": " + name
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", term.Name.In(lang), term.Name.In(other), meaning,
			strings.Join(term.Labs, " "), code)
	}
	return b.String()
}

// Each box of the live view has terms, and the page has them as the glossary does: by box and
// language, each term with its meaning.
func TestTheLiveViewExplainsItsBoxes(t *testing.T) {
	g := load(t)
	script, err := os.ReadFile(filepath.Join(repository, "internal/observe/web/page/dialogs.js"))
	require.NoError(t, err)
	found := regexp.MustCompile(`boxNames = \[([^\]]*)\]`).FindStringSubmatch(string(script))
	require.NotEmpty(t, found)
	names := append(regexp.MustCompile(`\w+`).FindAllString(found[1], -1), "story", "time")
	assert.ElementsMatch(t, names, slices.Collect(maps.Keys(g.View)))
	boxes := map[string][]map[words.Lang][2]string{}
	for box, names := range g.View {
		require.NotEmpty(t, names, box)
		for _, name := range names {
			i := slices.IndexFunc(g.Terms, func(each term) bool { return each.Name.English == name })
			require.GreaterOrEqual(t, i, 0, "%s: there is no term %q", box, name)
			entry := map[words.Lang][2]string{}
			for _, lang := range words.Langs {
				entry[lang] = [2]string{g.Terms[i].Name.In(lang), g.Terms[i].In(lang)}
			}
			boxes[box] = append(boxes[box], entry)
		}
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(boxes))
	compare(t, "internal/observe/web/page/glossary.json", b.String())
}

// Every term has both languages, is in its place, and names labs that exist. internal/house looks
// for its code.
func TestTermsAreComplete(t *testing.T) {
	labs, err := course.LoadAll(repository)
	require.NoError(t, err)
	ids := []string{}
	for _, lab := range labs {
		ids = append(ids, lab.ID)
	}
	last := ""
	for _, term := range load(t).Terms {
		name := term.Name.English
		assert.True(t, term.Name.Complete() && term.Complete(), "%s: a language is missing", name)
		assert.True(t, term.Not == words.Text{} || term.Not.Complete(), "%s: a language of not is missing", name)
		assert.Regexp(t, `\.$`, term.In(words.English), "%s: the meaning has to be sentences", name)
		assert.Regexp(t, `。$`, term.In(words.Chinese), "%s: the meaning has to be sentences", name)
		assert.Greater(t, strings.ToLower(name), last, "it is out of order, or occurs twice")
		last = strings.ToLower(name)
		assert.Subset(t, ids, term.Labs, name)
	}
}
