package course_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/course"
	"orrery/internal/lab/course/labtest"
	"orrery/internal/words"
)

func TestAMisspeltFieldIsAnError(t *testing.T) {
	for _, c := range []struct{ file, find, replace, want string }{
		{"lab.yaml", "article:", "artikel:", "field artikel not found"},
		{"lab.yaml", "name: sum, run:", "name: sum, rnu:", "field rnu not found"},
		{"lab.yaml", "files: [{path: gear/counter.go, write: [Counter.Add, Counter.Value], remove: []}]\n", "",
			"no page is named"},
		{"lab.yaml", "hints:", "run: {script: [{pause: long}]}\nhints:",
			"cannot unmarshal !!str `long` into time.Duration"},
		{"lab.yaml", "article:", "---\narticle:", "one document is expected"},
		{"mutants.yaml", "killed_by:", "killedBy:", "field killedBy not found"},
		{"predict.yaml", "id: order", "di: order", "field di not found"},
	} {
		repository := labtest.Repository(t)
		labtest.Replace(t, filepath.Join(repository, "workshop/labs/04-counter", c.file), c.find, c.replace)
		_, err := course.LoadAll(repository)
		assert.ErrorContains(t, err, c.want)
	}
}

// Every manifest is complete: its texts have both languages, and what one part names, another has.
func TestTheManifestsOfAllLabsAreComplete(t *testing.T) {
	labs, err := course.LoadAll(repository)
	require.NoError(t, err)
	require.NotEmpty(t, labs)
	for _, lab := range labs {
		t.Run(lab.Name, func(t *testing.T) {
			assert.Regexp(t, "^[0-9]{2}$", lab.ID)
			assert.True(t, strings.HasPrefix(lab.Name, lab.ID+"-"))
			assert.True(t, lab.Title.Complete(), "a language of the title is missing")
			assert.NotEmpty(t, lab.Article)
			assert.Positive(t, lab.Minutes)
			assert.True(t, lab.Built.Complete(), "a language of built is missing")
			for _, page := range lab.Files {
				assert.NotEmpty(t, page.Write, page.Path)
				assert.True(t, strings.HasPrefix(page.Path, lab.Package()+"/"), page.Path)
			}
			checkSteps(t, lab)
			checkScript(t, lab)
			checkHints(t, lab)
		})
	}
}

func checkSteps(t *testing.T, lab *course.Lab) {
	require.NotEmpty(t, lab.Tests.Steps)
	assert.Positive(t, lab.Tests.AtLeast)
	seen := map[string]bool{"": true}
	for _, step := range lab.Tests.Steps {
		_, err := regexp.Compile(step.Run)
		assert.NoError(t, err, step.Name)
		assert.NotEmpty(t, step.Run, step.Name)
		assert.False(t, seen[step.Name], "two steps are called %q", step.Name)
		seen[step.Name] = true
	}
}

// checkScript asserts that the script creates the namespaces that it uses.
func checkScript(t *testing.T, lab *course.Lab) {
	filled := map[string]bool{"": true}
	for i, action := range lab.Run.Script {
		prefix := action.Delete
		switch {
		case action.Fill != nil:
			filled[action.Fill.Prefix] = true
		case action.Touch != nil:
			prefix = action.Touch.Prefix
		case action.Gone != nil:
			prefix = action.Gone.Prefix
		}
		assert.True(t, filled[prefix], "action %d is about namespaces %s-…, which no action before it creates",
			i+1, prefix)
	}
}

// checkHints asserts that there are three general hints, and at least three planted wrong
// solutions, each with a hint of its own.
func checkHints(t *testing.T, lab *course.Lab) {
	require.Len(t, lab.Hints.Rungs, 3)
	for i, rung := range lab.Hints.Rungs {
		assert.True(t, rung.Complete(), "rung %d lacks a language", i+1)
	}
	ids := []string{}
	for _, hint := range lab.Hints.State {
		assert.True(t, hint.ID != "" && hint.Test != "" && hint.Complete(),
			"%q needs an id, a test, and both languages", hint.ID)
		ids = append(ids, hint.ID)
	}
	assert.GreaterOrEqual(t, len(lab.Mutants), 3)
	for _, mutant := range lab.Mutants {
		assert.True(t, mutant.ID != "" && mutant.KilledBy != "" && len(mutant.Edits) > 0,
			"mutant %q needs an id, edits, and killed_by", mutant.ID)
		assert.Contains(t, ids, mutant.Hint, mutant.ID)
		for _, edit := range mutant.Edits {
			assert.NotNil(t, lab.Page(edit.File), "mutant %s edits %s", mutant.ID, edit.File)
		}
	}
}

var sceneRow = regexp.MustCompile("(?m)^\\| \\[(\\d\\d) .* \\| `lab demo --scene ([a-z0-9-]+)(?: --gears textbook)?` \\| (.+) \\|$")

// The page for teachers has for each lab its scene and the right answers of its quiz.
func TestThePageForTeachers(t *testing.T) {
	labs, err := course.LoadAll(repository)
	require.NoError(t, err)
	for _, page := range []string{"README.md", "README.zh-CN.md"} {
		text, err := os.ReadFile(filepath.Join(repository, "workshop/teach", page))
		require.NoError(t, err)
		rows := sceneRow.FindAllStringSubmatch(string(text), -1)
		require.Len(t, rows, len(labs), page)
		for i, lab := range labs {
			var answers []string
			for _, question := range lab.Questions {
				for j := range question.Choices {
					if &question.Choices[j] == question.Right() {
						answers = append(answers, string(rune('a'+j)))
					}
				}
			}
			assert.Equal(t, []string{lab.ID, lab.Run.Scene, strings.Join(answers, " ")}, rows[i][1:], page)
		}
	}
}

func TestLabsAreFoundByManyNames(t *testing.T) {
	labs := []*course.Lab{{ID: "04", Name: "04-deltafifo"}, {ID: "08", Name: "08-work-queue"}}
	for id, words := range map[string]string{"04": "04 4", "08": "8 08 008 08-work-queue/ 08-Work-Queue"} {
		for word := range strings.FieldsSeq(words) {
			found := course.Find(labs, word)
			require.NotNil(t, found, word)
			assert.Equal(t, id, found.ID)
		}
	}
	for _, word := range []string{"work-queue", "7", "xyz", ""} {
		assert.Nil(t, course.Find(labs, word), word)
	}
}

func TestAnEditMustOccurOnce(t *testing.T) {
	mutant := course.Mutant{ID: "m", Edits: []course.Edit{{File: "a.go", Find: "x", Replace: "y"}}}
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

var (
	verbForm = regexp.MustCompile(`%(\[[0-9]+\])?[-0-9.]*[a-z]`)
	useForm  = regexp.MustCompile(`(?:\bSay\([\w.]+, |\b(?:Message|print|say|refuse|fail)\()"([a-z-]+)"`)
)

// Both languages of a message take the same arguments in the same order.
func TestMessagesTakeTheSameArguments(t *testing.T) {
	require.NotEmpty(t, course.Messages())
	for name, text := range course.Messages() {
		assert.True(t, text.Complete(), "%s lacks a language", name)
		assert.Equal(t, verbForm.FindAllString(text.English, -1), verbForm.FindAllString(text.Chinese, -1), name)
	}
}

// Every message that the code names exists, and every message is named.
func TestMessagesAreUsed(t *testing.T) {
	used := map[string]bool{}
	read := func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range useForm.FindAllStringSubmatch(string(text), -1) {
			used[found[1]] = true
		}
		return err
	}
	for _, room := range []string{".", "../../../cmd/lab"} {
		require.NoError(t, filepath.WalkDir(room, read))
	}
	all := course.Messages()
	for name := range used {
		if strings.HasSuffix(name, "-") { // the rest is a kind or a state
			assert.True(t, slices.ContainsFunc(slices.Collect(maps.Keys(all)),
				func(key string) bool { return strings.HasPrefix(key, name) }), name)
			continue
		}
		assert.Contains(t, all, name)
	}
	for name := range all {
		prefix, _, _ := strings.Cut(name, "-")
		assert.True(t, used[name] || used[prefix+"-"], "no code says %s", name)
	}
}

func TestLanguages(t *testing.T) {
	for value, want := range map[string]words.Lang{"": words.English, "C": words.English, "de_DE.UTF-8": words.English,
		"zh_CN.UTF-8": words.Chinese, "zh": words.Chinese} {
		t.Setenv("LC_ALL", "")
		t.Setenv("LC_MESSAGES", "")
		t.Setenv("LANG", value)
		assert.Equal(t, want, words.FromLocale(), value)
		t.Setenv("LC_ALL", "C")
		assert.Equal(t, words.English, words.FromLocale(), "LC_ALL comes before LANG=%s", value)
	}
	lang, err := words.ParseLang("zh-CN")
	require.NoError(t, err)
	assert.Equal(t, "全部通过。接下来：lab run 08，然后 lab diff 08", course.Say(lang, "all-passed", "08"))
	_, err = words.ParseLang("fr")
	assert.EqualError(t, err, `there is no language "fr"; use en or zh-CN`)
}

func TestParagraphsAreWrappedBetweenWords(t *testing.T) {
	text := words.Text{English: strings.Repeat("word ", 20) + "\n    " + strings.Repeat("code ", 18),
		Chinese: strings.Repeat("字", 100)}
	assert.Equal(t, strings.TrimSpace(strings.Repeat("word ", 16))+"\nword word word word\n    "+
		strings.TrimSpace(strings.Repeat("code ", 15))+"\n    code code code", text.Wrapped(words.English, 80))
	assert.Equal(t, text.Chinese, text.Wrapped(words.Chinese, 80))
}
