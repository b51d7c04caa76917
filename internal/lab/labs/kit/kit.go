// Package kit checks the instructor's kit in workshop/teach and the workshop's entrance: a page for
// each lab, a handout for each plan, and the recordings of the scenes. A test of the house compares
// the languages of the pages.
package kit

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"orrery/internal/lab/labs/bilingual"
	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/schedule"
	"orrery/internal/lab/labs/texts"
)

// Folder is where the kit is, relative to the repository.
const Folder = "workshop/teach"

// headings are the headings of a lab's page in each language.
var headings = map[texts.Lang][]string{
	texts.English: {"Say first", "Where people get stuck", "When to go on", "If nothing works"},
	texts.Chinese: {"开场先讲", "大家会卡在哪里", "什么时候往下走", "万一演示不了"},
}

// endings of a page's name in each language.
var endings = map[texts.Lang]string{texts.English: ".md", texts.Chinese: ".zh-CN.md"}

var (
	// lineForm matches the line of a planted wrong solution.
	lineForm = regexp.MustCompile("(?m)^- `([a-zA-Z0-9-]+)`[:：]")
	// rowForm matches the row of a lab on a handout.
	rowForm = regexp.MustCompile(`(?m)^\| ([0-9]{2}) `)
)

// read returns a page of the kit.
func read(repository, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(Folder), name))
	if err != nil {
		return "", fmt.Errorf("there is no %s", path.Join(Folder, name))
	}
	return string(text), nil
}

// LabProblems returns what is wrong with the pages of a lab. isScene reports whether "lab demo" has
// a scene of that name; its recording must exist then.
func LabProblems(repository string, lab *manifest.Lab, isScene func(name string) bool) (problems []string) {
	var mutants []string
	for _, mutant := range lab.Mutants {
		mutants = append(mutants, mutant.ID)
	}
	slices.Sort(mutants)
	recording := path.Join("recordings", lab.Run.Scene+".txt")
	for _, lang := range texts.Langs {
		name := lab.Name + endings[lang]
		report := func(format string, arguments ...any) {
			problems = append(problems, path.Join(Folder, name)+": "+fmt.Sprintf(format, arguments...))
		}
		text, err := read(repository, name)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		if titles := bilingual.Parse(text).Titles(2); !slices.Equal(titles, headings[lang]) {
			report("the headings are %q, and should be %q", titles, headings[lang])
			continue
		}
		_, stuck, _ := strings.Cut(text, "## "+headings[lang][1])
		stuck, _, _ = strings.Cut(stuck, "\n## ")
		var lines []string
		for _, found := range lineForm.FindAllStringSubmatch(stuck, -1) {
			lines = append(lines, found[1])
		}
		slices.Sort(lines)
		if !slices.Equal(lines, mutants) {
			report("it has a line for each of %q, and mutants.yaml has %q", lines, mutants)
		}
		if lab.Run.Scene != "" && !strings.Contains(text, "`"+recording+"`") {
			report("it does not name `%s`", recording)
		}
	}
	if isScene(lab.Run.Scene) {
		if _, err := read(repository, recording); err != nil {
			problems = append(problems, fmt.Sprintf("%v; type: make recordings SCENE=%s", err, lab.Run.Scene))
		}
	}
	return problems
}

// EntranceProblems returns what is wrong with the table of labs on the workshop's own page.
func EntranceProblems(repository string, labs []*manifest.Lab) (problems []string) {
	for _, lang := range texts.Langs {
		name := "../README" + endings[lang]
		text, err := read(repository, name)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		for _, lab := range labs {
			if link := path.Join("labs", lab.Name, filepath.Base(lab.Readme(lang))); !strings.Contains(text, "]("+link+")") {
				problems = append(problems, fmt.Sprintf("%s: the table has no link to %s", path.Join(Folder, name), link))
			}
		}
	}
	return problems
}

// HandoutProblems returns what is wrong with the handout of a plan: its table has the plan's labs.
func HandoutProblems(repository string, plan schedule.Plan) (problems []string) {
	for _, lang := range texts.Langs {
		name := "handout-" + plan.Name + endings[lang]
		text, err := read(repository, name)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		var labs []string
		for _, found := range rowForm.FindAllStringSubmatch(text, -1) {
			labs = append(labs, found[1])
		}
		if !slices.Equal(labs, plan.Labs) {
			problems = append(problems, fmt.Sprintf("%s: the labs are %q, and %s has %q", path.Join(Folder, name), labs, schedule.File, plan.Labs))
		}
	}
	return problems
}
