package glossary_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/labs/glossary"
	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/texts"
)

func load(t *testing.T) (repository string, labs []*manifest.Lab, g *glossary.Glossary) {
	t.Helper()
	repository, err := filepath.Abs("../../../..")
	require.NoError(t, err)
	labs, err = manifest.LoadAll(repository)
	require.NoError(t, err)
	g, err = glossary.Load(repository)
	require.NoError(t, err)
	return repository, labs, g
}

var update = flag.Bool("update", false, "write the pages and the terms of the live view")

// compare compares a file of the repository with what it has to hold, or writes it.
func compare(t *testing.T, repository, file, want string) {
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
	repository, _, g := load(t)
	for _, lang := range texts.Langs {
		compare(t, repository, glossary.Page(lang), g.Markdown(lang))
	}
}

// Each box of the live view has terms, and the page has them as the glossary does.
func TestTheLiveViewExplainsItsBoxes(t *testing.T) {
	repository, labs, g := load(t)
	compare(t, repository, glossary.ViewFile, g.ViewJSON())
	script, err := os.ReadFile(filepath.Join(repository, "internal/observe/view/page/dialogs.js"))
	require.NoError(t, err)
	boxes := regexp.MustCompile(`boxNames = \[([^\]]*)\]`).FindStringSubmatch(string(script))
	require.NotEmpty(t, boxes)
	names := append(regexp.MustCompile(`\w+`).FindAllString(boxes[1], -1), "story", "time")
	assert.ElementsMatch(t, names, slices.Collect(maps.Keys(g.View)))
	for _, name := range names {
		assert.NotEmpty(t, g.View[name], name)
	}

	g.View["queue"] = []string{"work queue", "relist"}
	assert.Equal(t, []string{`workshop/glossary.yaml: view: queue: there is no term "relist"`}, g.Problems(repository, labs, nil))
}

func TestWhatIsWrongWithATermIsNamed(t *testing.T) {
	for want, spoil := range map[string]func(*glossary.Term){
		"a language is missing":                     func(t *glossary.Term) { t.Name.Chinese = "" },
		"a language of not is missing":              func(t *glossary.Term) { t.Not = texts.Text{English: "x"} },
		"the meaning has to be sentences":           func(t *glossary.Term) { t.English = "a thing" },
		"it is out of order, or occurs twice":       func(t *glossary.Term) { t.Name.English = "a" },
		"there is no lab 99":                        func(t *glossary.Term) { t.Labs = []string{"99"} },
		"the file does not declare that name":       func(t *glossary.Term) { t.Code = "queue/queue.go: Nothing" },
		`"queue/nothing.go": there is no such file`: func(t *glossary.Term) { t.Code = "queue/nothing.go" },
	} {
		repository, labs, g := load(t)
		assert.Empty(t, g.Problems(repository, labs, nil))
		g.View = nil
		spoil(&g.Terms[3])
		problems := g.Problems(repository, labs, nil)
		require.NotEmpty(t, problems, want)
		assert.Contains(t, problems[0], want)
	}
}

func TestATermOccursOnce(t *testing.T) {
	repository, labs, g := load(t)
	g.Terms[3].Name, g.View = g.Terms[2].Name, nil
	want := "workshop/glossary.yaml: " + g.Terms[2].Name.English + ": it is out of order, or occurs twice"
	assert.Equal(t, []string{want}, g.Problems(repository, labs, nil))
}
