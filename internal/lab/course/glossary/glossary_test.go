package glossary_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course/glossary"
	"orrery/internal/lab/course/manifest"
	"orrery/internal/lab/course/texts"
)

// repository is the root of the repository.
const repository = "../../../.."

func load(t *testing.T) *glossary.Glossary {
	t.Helper()
	g, err := glossary.Load(repository)
	require.NoError(t, err)
	return g
}

var update = flag.Bool("update", false, "write the pages and the terms of the live view")

// compare compares a file of the repository with what it has to hold, or writes it.
func compare(t *testing.T, file, want string) {
	t.Helper()
	path := filepath.Join(repository, filepath.FromSlash(file))
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, want, string(text), `type "make glossary"`)
}

func TestThePagesAreWrittenFromTheGlossary(t *testing.T) {
	g := load(t)
	for _, lang := range texts.Langs {
		compare(t, glossary.Page(lang), g.Markdown(lang))
	}
}

// Each box of the live view has terms, and the page has them as the glossary does.
func TestTheLiveViewExplainsItsBoxes(t *testing.T) {
	g := load(t)
	compare(t, glossary.ViewFile, g.ViewJSON())
	script, err := os.ReadFile(filepath.Join(repository, "internal/observe/web/view/page/dialogs.js"))
	require.NoError(t, err)
	boxes := regexp.MustCompile(`boxNames = \[([^\]]*)\]`).FindStringSubmatch(string(script))
	require.NotEmpty(t, boxes)
	names := append(regexp.MustCompile(`\w+`).FindAllString(boxes[1], -1), "story", "time")
	assert.ElementsMatch(t, names, slices.Collect(maps.Keys(g.View)))
	known := map[string]bool{}
	for _, term := range g.Terms {
		known[term.Name.English] = true
	}
	for _, name := range names {
		require.NotEmpty(t, g.View[name], name)
		for _, term := range g.View[name] {
			assert.True(t, known[term], "%s: there is no term %q", name, term)
		}
	}
}

// Every term has both languages, is in its place, and names labs and code that exist.
func TestTermsAreComplete(t *testing.T) {
	labs, err := manifest.LoadAll(repository)
	require.NoError(t, err)
	ids := []string{}
	for _, lab := range labs {
		ids = append(ids, lab.ID)
	}
	last := ""
	for _, term := range load(t).Terms {
		name := term.Name.English
		assert.True(t, term.Name.Complete() && term.Complete(), "%s: a language is missing", name)
		assert.True(t, term.Not == texts.Text{} || term.Not.Complete(), "%s: a language of not is missing", name)
		assert.Regexp(t, `\.$`, term.In(texts.English), "%s: the meaning has to be sentences", name)
		assert.Regexp(t, `。$`, term.In(texts.Chinese), "%s: the meaning has to be sentences", name)
		assert.Greater(t, strings.ToLower(name), last, "it is out of order, or occurs twice")
		last = strings.ToLower(name)
		assert.Subset(t, ids, term.Labs, name)
		_, err := glossary.Declared(repository, term.Code)
		assert.NoError(t, err, name)
	}
}

func TestDeclarationsAreFound(t *testing.T) {
	for reference, want := range map[string]string{
		"queue/doc.go":                              "",
		"deltafifo/fifo.go: DeltaFIFO.Pop":          "",
		"internal/lab/course/texts/texts.go: Lang":  "",
		"internal/lab/course/texts/texts.go: Langs": "",
		"queue/nothing.go":                          "there is no such file",
		"queue/queue.go: Queue.Nothing":             "the file does not declare that name",
		"deltafifo/fifo.go: Pop":                    "the file does not declare that name",
	} {
		_, err := glossary.Declared(repository, reference)
		if want == "" {
			assert.NoError(t, err)
			continue
		}
		assert.ErrorContains(t, err, want)
	}
	doc, err := glossary.Declared(repository, "internal/lab/course/texts/texts.go: Parse")
	require.NoError(t, err)
	assert.Contains(t, doc, "Parse returns the language with that name.")
}
