package verify

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/demo/scenes"
	"orrery/internal/lab/labs/labtest"
	"orrery/internal/lab/labs/manifest"
)

func TestASoundLabPasses(t *testing.T) {
	t.Setenv("CGO_ENABLED", "0")
	repository := labtest.Repository(t)
	var out strings.Builder
	ok, err := Run(t.Context(), repository, []*manifest.Lab{labtest.Lab(t, repository)}, &out)
	require.NoError(t, err)
	assert.True(t, ok, out.String())
	assert.Equal(t, len(checks), strings.Count(out.String(), "✔"), out.String())
}

// Only the end of a long log may be seen.
func TestFailedChecksAreNamedAtTheEnd(t *testing.T) {
	repository := labtest.Repository(t)
	file := filepath.Join(repository, "workshop/labs/04-counter/lab.yaml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	labtest.Write(t, file, strings.Replace(string(text), "day: 10", "day: 90", 1))
	var out strings.Builder
	ok, err := Run(t.Context(), repository, []*manifest.Lab{labtest.Lab(t, repository)}, &out)
	require.NoError(t, err)
	assert.False(t, ok)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	assert.Equal(t, "04  ✘ manifest and pages", lines[len(lines)-1])
	assert.Equal(t, 1, strings.Count(out.String(), "minutes: day must be positive"), out.String())
}

// A finding says what the tests said, and what the hints for it look for.
func TestAFindingCanBeRepairedFromItsText(t *testing.T) {
	t.Setenv("CGO_ENABLED", "0")
	repository := labtest.Repository(t)
	file := filepath.Join(repository, "workshop/labs/04-counter/lab.yaml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	labtest.Write(t, file, strings.Replace(string(text), "the sum of 2 and 3 is 3", "the sum is 3", 1))
	problems := problemsOf(t, repository, "planted wrong solutions")
	require.Len(t, problems, 1)
	assert.Equal(t, `mutant last-only should get the hint "last-only", not "wrong": assertion in the step sum:
  TestContract/sum
    the sum of 2 and 3 is 3, not 5
the hints for this test, and what each looks for:
  last-only: "the sum is 3"
  wrong: ""`, problems[0])
}

func TestWhatATestOfManySaid(t *testing.T) {
	output := "=== RUN   T/a\n    a.go:1: one\n=== RUN   T/b\n    b.go:1: two\n    b.go:2: three\n--- FAIL: T\n"
	assert.Equal(t, "\n  b.go:1: two\n      b.go:2: three", saidBy(output, "T/b"))
	assert.Equal(t, "\n  a.go:1: one", saidBy(output, "T/a"))
}

// Each kind of sabotage is found by its check.
func TestSabotageIsFound(t *testing.T) {
	t.Setenv("CGO_ENABLED", "0")
	const dir = "workshop/labs/04-counter/"
	for _, c := range []struct{ check, file, find, replace, want string }{
		{"manifest and pages", dir + "lab.yaml", "day: 10", "day: 90", "minutes: day must be positive"},
		{"manifest and pages", dir + "lab.yaml", "write: [Counter.Add", "write: [Counter.Nothing, Counter.Add", "gear/counter.go: there is no function Counter.Nothing"},
		{"manifest and pages", dir + "lab.yaml", "functions: [Counter.Add]", "functions: [Counter.Sub]", "step sum: gear/counter.go has no function Counter.Sub"},
		{"manifest and pages", dir + "lab.yaml", "contract_test.go", "nothing_test.go", "there is no nothing_test.go in gear"},
		{"manifest and pages", dir + "mutants.yaml", `find: "return c.n\n"`, `find: "return c.m\n"`, "not once"},
		{"languages", dir + "README.zh-CN.md", "## 术语\n", "", "zh-CN: the headings are"},
		{"languages", dir + "README.zh-CN.md", "实验 04：", "实验 05：", "zh-CN: the title is"},
		{"languages", dir + "README.md", "## Check\n", "## Check\n```\nlab test 04\n```\n", "different code blocks"},
		{"languages", dir + "README.md", "## Do\n", "## Do\n`Add`\n", "Do: inline code differ"},
		{"languages", dir + "README.md", "## Do\n", "## Do\n| a | b |\n", "Do: the tables have other shapes"},
		{"languages", dir + "lab.yaml", "en: two", `en: "c.n += n // the reference does it so"`, "a page or hint has a line of Counter.Add"},
		{"scene", dir + "lab.yaml", "article: counting\n", "article: counting\nrun: {scene: delite}\n", `there is no scene "delite"`},
		{"scene", dir + "lab.yaml", "article: counting\n", "article: counting\nrun: {scene: delete}\n", "zh-CN: the page does not say lab demo --scene delete"},
		{"predict questions", dir + "predict.yaml", "- {is: a,", "- {is: b,", `question order: two choices are "b"`},
		{"predict questions", dir + "predict.yaml", "    - {is: a, en: The first., zh-CN: 先来的。}\n", "", `question order: the run yields "a", and not exactly one choice says that`},
		{"predict questions", dir + "predict.yaml", "add a b", "add b a", `question order: the wrong choice "a" lacks a belief`},
		{"predict questions", dir + "predict.yaml", "add a b", "put a b", "question order: put a b: there is no such command"},
		{"predict questions", dir + "predict.yaml", "id: order", "id: again", `two questions are called "again"`},
		{"predict questions", dir + "predict.yaml", "zh-CN: 先进先出。", "zh-CN: ''", "question order: why lacks a language"},
		{"predict questions", dir + "README.zh-CN.md", "哪个先出来", "哪个后出来", "question order: the zh-CN page does not show it"},
		{"reference passes", "gear/contract_test.go", "!= 5", "!= 6", "the reference does not pass"},
		{"reference passes", dir + "lab.yaml", "at_least: 4", "at_least: 5", "the steps ran 4 tests, and at_least in lab.yaml is 5"},
		{"stub", "gear/contract_test.go", "c.Add(2)", "_ = 2", "the stub should fail because something is still to write"},
		{"each function is needed", "gear/contract_test.go", "if c.Add(3); c.Value() != 5 {", "if c.Add(3); false {", "without Counter.Value a step should fail because of it: it passes"},
		{"planted wrong solutions", dir + "mutants.yaml", `replace: "c.n -= n"`, `replace: "c.n += n"`, "mutant subtracts should fail first at TestContract/sum: it passes"},
		{"planted wrong solutions", dir + "mutants.yaml", `replace: "c.n -= n"`, `replace: "c.n -= m"`, "mutant subtracts should fail first at TestContract/sum: it does not build"},
		{"planted wrong solutions", dir + "lab.yaml", "the sum of 2 and 3 is 3", "the sum is 3", `should get the hint "last-only", not "wrong"`},
	} {
		repository := labtest.Repository(t)
		file := filepath.Join(repository, c.file)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(text), c.find)
		changed := strings.Replace(string(text), c.find, c.replace, 1)
		if c.check == "stub" {
			changed = strings.NewReplacer("c.Add(2)", "_ = 2", "c.Add(3)", "_ = 3", "c.Value() != 5", "false", "got := gear.Twice(&gear.Counter{}, 2); got", "got := 4; got").Replace(string(text))
		}
		labtest.Write(t, file, changed)
		problems := strings.Join(problemsOf(t, repository, c.check), "\n")
		assert.Contains(t, problems, c.want, c.check)
	}
}

// Versions share a build unless they differ in more than bodies or need the race detector.
func TestVersionsThatShareABuild(t *testing.T) {
	t.Setenv("CGO_ENABLED", "0")
	repository := labtest.Repository(t)
	s := &subject{repository: repository, lab: labtest.Lab(t, repository), dir: t.TempDir()}
	edit := func(name, find, replace string) version {
		return version{name: name, change: func(_ manifest.File, text []byte) ([]byte, error) {
			return []byte(strings.Replace(string(text), find, replace, 1)), nil
		}}
	}
	raced := edit("raced", "+=", "*=")
	raced.race = true
	versions := []version{edit("less", "+=", "-="), edit("type", "n  int", "n  int64"), raced, edit("more", "+=", "|=")}
	var folders []string
	for _, v := range versions {
		folder, err := s.version(v.name, v.change)
		require.NoError(t, err)
		folders = append(folders, folder)
	}
	binary, with, err := s.buildTogether(t.Context(), versions, folders)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 3}, with)
	for chosen, want := range map[string]string{"less": "is -5, not 5", "more": "is 3, not 5", "": "PASS"} {
		command := exec.CommandContext(t.Context(), binary, "-test.v", "-test.run", "TestContract/sum")
		command.Env = append(os.Environ(), chooser+"="+chosen)
		said, _ := command.CombinedOutput() // it fails with a wrong version
		assert.Contains(t, string(said), want)
	}
}

// The controller of the small repository ends at once.
func TestTheWholeRuntimeMustWork(t *testing.T) {
	repository := labtest.Repository(t)
	s := &subject{repository: repository, all: []*manifest.Lab{labtest.Lab(t, repository)}, dir: t.TempDir()}
	problems, err := wholeRuntime(t.Context(), s)
	require.NoError(t, err)
	require.NotEmpty(t, problems)
	assert.Equal(t, "the run fails:", problems[0])
	s.all[0].Run.Program = "cmd/other"
	problems, err = wholeRuntime(t.Context(), s)
	require.NoError(t, err)
	assert.Equal(t, []string{"no lab has a page of the controller"}, problems)
}

// A program that uses what a stub leaves out does not build.
func TestProgramsMustBuildWithTheStubs(t *testing.T) {
	repository := labtest.Repository(t)
	s := &subject{repository: repository, all: []*manifest.Lab{labtest.Lab(t, repository)}, dir: t.TempDir()}
	problems, err := stubsBuild(t.Context(), s)
	require.NoError(t, err)
	assert.Empty(t, problems)
	labtest.Write(t, filepath.Join(repository, labtest.Page), labtest.Reference+"\n// Reset is left out.\nfunc Reset(*Counter) {}\n")
	labtest.Write(t, filepath.Join(repository, "cmd/orrery/main.go"), "package main\n\nimport \"orrery/gear\"\n\nfunc main() { gear.Reset(nil) }\n")
	s.all[0].Files[0].Remove = []string{"Reset"}
	problems, err = stubsBuild(t.Context(), s)
	require.NoError(t, err)
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0], "cmd/orrery does not build with the stubs")
	assert.Contains(t, problems[0], "undefined: gear.Reset")
}

// Where there are no scenes, none plays.
func TestScenesThatDoNotPlay(t *testing.T) {
	problems, err := scenesPlay(t.Context(), &subject{repository: labtest.Repository(t)})
	require.NoError(t, err)
	assert.Len(t, problems, len(scenes.Names()))
}

func TestReferencesToCodeAreChecked(t *testing.T) {
	repository := labtest.Repository(t)
	labtest.Write(t, filepath.Join(repository, "docs/learn/a.md"), "# A\n\n`gear/counter.go: Counter.Add` and `gear/counter.go: Counter.Sub`\n")
	problems, err := referencesResolve(t.Context(), &subject{repository: repository})
	require.NoError(t, err)
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0], "docs/learn/a.md:3: \"gear/counter.go: Counter.Sub\"")
}

// The lab of the small repository prints its arguments.
func TestCodeBlocksOfPagesAreRun(t *testing.T) {
	t.Setenv("CGO_ENABLED", "0")
	repository := labtest.Repository(t)
	write := func(name, text string) { labtest.Write(t, filepath.Join(repository, name), text) }
	write("cmd/lab/main.go", "package main\n\nimport \"os\"\nimport \"fmt\"\n\nfunc main() { fmt.Println(os.Args[1:]) }\n")
	write("docs/learn/a.md", "# A\n\n```console verify\n$ lab start 04\n[start …]\n$ mkdir -p workshop/work/a\n```\n")
	write("docs/learn/a.zh-CN.md", "# 甲\n\n```console verify\n$ bin/lab start 04\n[start 05]\n```\n")
	write("docs/learn/b.md", "# B\n\n```console run\n$ test ! -e workshop/work/a\n$ test -e untracked\n```\n")
	write("docs/learn/b.zh-CN.md", "# 乙\n\n```console run\n$ test ! -e workshop/work/a\n$ test -e untracked\n```\n")
	for _, arguments := range [][]string{{"init", "-q"}, {"add", "."}} {
		command := exec.Command("git", arguments...)
		command.Dir = repository
		require.NoError(t, command.Run())
	}
	write("untracked", "")
	problems, err := commandsWork(t.Context(), &subject{repository: repository, dir: t.TempDir()})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"docs/learn/a.zh-CN.md:3: bin/lab start 04: the output should be\n[start 05]\nand is\n[start 04]",
		"docs/learn/b.md:3: test -e untracked: exit status 1",
	}, problems)
}

func TestWhatALineGivesAway(t *testing.T) {
	assert.True(t, givesAway("listeners = append(listeners, listener)"))
	assert.False(t, givesAway("return len(listeners)"), "too short")
	assert.False(t, givesAway("p.listenersLock.Lock()"), "a lock is taken elsewhere, too")
	assert.False(t, givesAway("p.listenersLock.Unlock()"))
}

// problemsOf makes one check.
func problemsOf(t *testing.T, repository, name string) []string {
	t.Helper()
	lab := labtest.Lab(t, repository)
	s := &subject{repository: repository, lab: lab, all: []*manifest.Lab{lab}, dir: t.TempDir()}
	for _, c := range checks {
		if c.name == name {
			problems, err := c.check(t.Context(), s)
			require.NoError(t, err)
			return problems
		}
	}
	require.Fail(t, "there is no check "+name)
	return nil
}

// The texts of the course are checked here, too: that takes no build.
func TestTextsOfTheCourse(t *testing.T) {
	repository, err := filepath.Abs("../../../..")
	require.NoError(t, err)
	labs, err := manifest.LoadAll(repository)
	require.NoError(t, err)
	s := &subject{repository: repository, all: labs}
	for name, check := range map[string]func(context.Context, *subject) ([]string, error){
		"schedules": schedules, "glossary": terms, "tour": tourStops, "instructor's kit": instructorsKit,
		"references to code": referencesResolve,
	} {
		problems, err := check(t.Context(), s)
		require.NoError(t, err)
		assert.Empty(t, problems, name)
	}
}

// The manifests, pages and questions of all labs are checked here, too: that takes no build.
func TestLabsOfTheRepository(t *testing.T) {
	repository, err := filepath.Abs("../../../..")
	require.NoError(t, err)
	labs, err := manifest.LoadAll(repository)
	require.NoError(t, err)
	assert.NotEmpty(t, labs)
	builds := slices.IndexFunc(checks, func(c entry) bool { return c.name == "reference passes" })
	for _, lab := range labs {
		s := &subject{repository: repository, lab: lab, all: labs}
		for _, c := range checks[:builds] {
			problems, err := c.check(t.Context(), s)
			require.NoError(t, err)
			assert.Empty(t, problems, "lab %s: %s", lab.ID, c.name)
		}
	}
}
