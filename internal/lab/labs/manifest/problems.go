package manifest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// fewestMutants is the least number of planted wrong solutions.
const fewestMutants = 3

// rungs is the number of general hints.
const rungs = 3

// Problems returns what is missing in the manifest itself. all are all labs.
func (l *Lab) Problems(all []*Lab) (problems []string) {
	report := func(bad bool, format string, arguments ...any) {
		if bad {
			problems = append(problems, fmt.Sprintf(format, arguments...))
		}
	}
	report(!strings.HasPrefix(l.Name, l.ID+"-") || len(l.ID) != 2, "id: %q is not the beginning of the folder's name", l.ID)
	report(!l.Title.Complete(), "title: a language is missing")
	report(l.Article == "", "article is missing")
	report(l.Minutes.Day <= 0 || l.Minutes.Self < l.Minutes.Day, "minutes: day must be positive, and self not less")
	for _, need := range l.Needs {
		report(!slices.ContainsFunc(all, func(o *Lab) bool { return o.ID == need }), "needs: there is no lab %s", need)
	}
	for _, page := range l.Files {
		report(len(page.Write) == 0, "%s: write: no function is named", page.Path)
		report(!strings.HasPrefix(page.Path, l.Package()+"/"), "%s is not in the package %s", page.Path, l.Package())
	}
	report(len(l.Tests.Steps) == 0, "tests: no step")
	report(l.Tests.AtLeast <= 0, "tests: at_least is missing")
	seen := map[string]bool{}
	for _, step := range l.Tests.Steps {
		_, err := regexp.Compile(step.Run)
		report(err != nil || step.Run == "", "step %s: run is not a pattern: %v", step.Name, err)
		report(seen[step.Name] || step.Name == "", "two steps are called %q", step.Name)
		seen[step.Name] = true
	}
	problems = append(problems, l.scriptProblems()...)
	problems = append(problems, l.hintProblems()...)
	return append(problems, l.mutantProblems()...)
}

// scriptProblems returns the namespaces that the script of "lab run" uses and never creates.
func (l *Lab) scriptProblems() (problems []string) {
	filled := map[string]bool{"": true}
	for i, action := range l.Run.Script {
		prefix := action.Delete
		switch {
		case action.Fill != nil:
			filled[action.Fill.Prefix] = true
		case action.Touch != nil:
			prefix = action.Touch.Prefix
		case action.Gone != nil:
			prefix = action.Gone.Prefix
		}
		if !filled[prefix] {
			problems = append(problems, fmt.Sprintf("run: action %d is about the namespaces %s-…, which no action before it creates", i+1, prefix))
		}
	}
	return problems
}

// hintProblems returns what is wrong with the hints.
func (l *Lab) hintProblems() (problems []string) {
	if len(l.Hints.Rungs) != rungs {
		problems = append(problems, fmt.Sprintf("hints: %d rungs, not %d", len(l.Hints.Rungs), rungs))
	}
	for i, rung := range l.Hints.Rungs {
		if !rung.Complete() {
			problems = append(problems, fmt.Sprintf("hints: rung %d lacks a language", i+1))
		}
	}
	for _, hint := range l.Hints.State {
		if hint.ID == "" || hint.Test == "" || !hint.Complete() {
			problems = append(problems, fmt.Sprintf("hints: %q needs an id, a test, and both languages", hint.ID))
		}
	}
	return problems
}

// mutantProblems returns what is wrong with the planted wrong solutions.
func (l *Lab) mutantProblems() (problems []string) {
	if len(l.Mutants) < fewestMutants {
		problems = append(problems, fmt.Sprintf("mutants.yaml has %d wrong solutions, fewer than %d", len(l.Mutants), fewestMutants))
	}
	for _, mutant := range l.Mutants {
		known := slices.ContainsFunc(l.Hints.State, func(h StateHint) bool { return h.ID == mutant.Hint })
		if mutant.ID == "" || mutant.KilledBy == "" || len(mutant.Edits) == 0 || !known {
			problems = append(problems, fmt.Sprintf("mutant %q needs an id, edits, killed_by, and a state-aware hint", mutant.ID))
		}
		for _, edit := range mutant.Edits {
			if l.Page(edit.File) == nil {
				problems = append(problems, fmt.Sprintf("mutant %s edits %s, which is not a page of the lab", mutant.ID, edit.File))
			}
		}
	}
	return problems
}
