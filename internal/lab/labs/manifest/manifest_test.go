package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/labs/labtest"
	"orrery/internal/lab/labs/manifest"
)

func TestAMisspeltFieldIsAnError(t *testing.T) {
	repository := labtest.Repository(t)
	for _, c := range []struct{ file, find, replace, want string }{
		{"lab.yaml", "article:", "artikel:", "field artikel not found"},
		{"lab.yaml", "name: sum, run:", "name: sum, rnu:", "field rnu not found"},
		{"lab.yaml", "files: [{path: gear/counter.go, write: [Counter.Add, Counter.Value], remove: []}]\n", "", "no page is named"},
		{"lab.yaml", "hints:", "run: {script: [{pause: long}]}\nhints:", `"long" is not a duration such as 500ms or 30s`},
		{"lab.yaml", "article:", "---\narticle:", "one document is expected"},
		{"mutants.yaml", "killed_by:", "killedBy:", "field killedBy not found"},
		{"predict.yaml", "id: order", "di: order", "field di not found"},
	} {
		file := filepath.Join(repository, "workshop/labs/04-counter", c.file)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		labtest.Write(t, file, strings.Replace(string(text), c.find, c.replace, 1))
		_, err = manifest.LoadAll(repository)
		assert.ErrorContains(t, err, c.want)
		labtest.Write(t, file, string(text))
	}
	lab := labtest.Lab(t, repository)
	assert.Empty(t, lab.Problems([]*manifest.Lab{lab}))
	assert.Equal(t, "gear", lab.Package())
}

func TestTheManifestsOfAllLabsAreComplete(t *testing.T) {
	labs, err := manifest.LoadAll("../../../..")
	require.NoError(t, err)
	require.NotEmpty(t, labs)
	for _, lab := range labs {
		assert.Empty(t, lab.Problems(labs), "lab %s", lab.ID)
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	for want, spoil := range map[string]func(*manifest.Lab){
		"id: \"05\" is not":              func(l *manifest.Lab) { l.ID = "05" },
		"title: a language is missing":   func(l *manifest.Lab) { l.Title.Chinese = " " },
		"article is missing":             func(l *manifest.Lab) { l.Article = "" },
		"minutes: day must be positive":  func(l *manifest.Lab) { l.Minutes.Self = 5 },
		"needs: there is no lab 99":      func(l *manifest.Lab) { l.Needs = []string{"99"} },
		"write: no function is named":    func(l *manifest.Lab) { l.Files[0].Write = nil },
		"tests: no step":                 func(l *manifest.Lab) { l.Tests.Steps = nil },
		"run is not a pattern":           func(l *manifest.Lab) { l.Tests.Steps[0].Run = "(" },
		"two steps are called \"twice\"": func(l *manifest.Lab) { l.Tests.Steps[0].Name = "twice" },
		"hints: 2 rungs, not 3":          func(l *manifest.Lab) { l.Hints.Rungs = l.Hints.Rungs[:2] },
		"hints: rung 1 lacks":            func(l *manifest.Lab) { l.Hints.Rungs[0].English = "" },
		"needs an id, a test":            func(l *manifest.Lab) { l.Hints.State[1].Test = "" },
		"fewer than 3":                   func(l *manifest.Lab) { l.Mutants = l.Mutants[:2] },
		"needs an id, edits, killed_by":  func(l *manifest.Lab) { l.Mutants[0].Hint = "none" },
		"action 2 is about the namespaces later-…, which no action before it creates": func(l *manifest.Lab) {
			l.Run.Script = []manifest.Action{{Fill: &manifest.Fill{Prefix: "team"}}, {Gone: &manifest.Gone{Prefix: "later"}}, {Delete: "team"}}
		},
		"not a page of the lab": func(l *manifest.Lab) { l.Mutants[0].Edits[0].File = "gear/other.go" },
	} {
		lab := labtest.Lab(t, labtest.Repository(t))
		spoil(lab)
		problems := lab.Problems([]*manifest.Lab{lab})
		require.Len(t, problems, 1, want)
		assert.Contains(t, problems[0], want)
	}
}

func TestLabsAreFoundByManyNames(t *testing.T) {
	labs := []*manifest.Lab{{ID: "04", Name: "04-deltafifo"}, {ID: "08", Name: "08-work-queue"}, {ID: "14", Name: "14-queue-in-order"}}
	for word, want := range map[string]string{"04": "04", "4": "04", "8": "08", "008": "08", "work-queue": "08", "08-work-queue/": "08", "Work-Queue": "08", "14": "14"} {
		found, _ := manifest.Find(labs, word)
		require.NotNil(t, found, word)
		assert.Equal(t, want, found.ID)
	}
	for word, want := range map[string][]string{"queue": {"08", "14"}, "17": {"14", "08", "04"}, "7": {"08", "04", "14"}, "xyz": nil, "": nil} {
		found, near := manifest.Find(labs, word)
		assert.Nil(t, found, word)
		var ids []string
		for _, lab := range near {
			ids = append(ids, lab.ID)
		}
		assert.Equal(t, want, ids, word)
	}
}

func TestAnEditMustOccurOnce(t *testing.T) {
	mutant := manifest.Mutant{ID: "m", Edits: []manifest.Edit{{File: "a.go", Find: "x", Replace: "y"}}}
	text, err := mutant.Mutate("a.go", "1 x 2")
	require.NoError(t, err)
	assert.Equal(t, "1 y 2", text)
	text, err = mutant.Mutate("b.go", "x x")
	require.NoError(t, err)
	assert.Equal(t, "x x", text)
	for _, text := range []string{"x x", "none"} {
		_, err := mutant.Mutate("a.go", text)
		assert.ErrorContains(t, err, "not once")
	}
}

func TestMetricLimits(t *testing.T) {
	low, high := 1.0, 3.0
	assert.True(t, manifest.Metric{}.Holds(7))
	assert.True(t, manifest.Metric{AtLeast: &low, AtMost: &high}.Holds(3))
	assert.False(t, manifest.Metric{AtLeast: &low}.Holds(0))
	assert.False(t, manifest.Metric{AtMost: &high}.Holds(4))
	assert.Equal(t, time.Duration(0), manifest.Metric{}.Within.Duration)
}
