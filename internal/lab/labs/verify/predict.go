package verify

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"orrery/internal/lab/labs/bilingual"
	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/predict"
	"orrery/internal/lab/labs/texts"
)

// fewestQuestions is the least number of questions of a lab.
const fewestQuestions = 2

// predictions: each question has exactly one right choice, by a run of its script, and both pages
// show it.
func predictions(ctx context.Context, s *subject) (problems []string, err error) {
	report := func(format string, arguments ...any) { problems = append(problems, fmt.Sprintf(format, arguments...)) }
	if n := len(s.lab.Questions); n < fewestQuestions {
		report("predict.yaml has %d questions, fewer than %d", n, fewestQuestions)
	}
	shown := map[texts.Lang]string{}
	for _, lang := range texts.Langs {
		text, err := os.ReadFile(s.lab.Readme(lang))
		if err != nil {
			return nil, err
		}
		title := headings[lang][slices.Index(headings[texts.English], "Predict")]
		shown[lang] = unfolded(bilingual.Parse(string(text)).Section(title))
	}
	seen := map[string]bool{}
	for i := range s.lab.Questions {
		q := &s.lab.Questions[i]
		if q.ID == "" || seen[q.ID] {
			report("two questions are called %q", q.ID)
		}
		seen[q.ID] = true
		for _, problem := range questionProblems(ctx, q) {
			report("question %s: %s", q.ID, problem)
		}
		for _, lang := range texts.Langs {
			if !strings.Contains(shown[lang], unfolded(q.In(lang))) {
				report("question %s: the %s page does not show it", q.ID, lang)
			}
		}
	}
	return problems, nil
}

// unfolded returns a text with single spaces, as it is wherever its lines were broken.
func unfolded(text string) string { return strings.Join(strings.Fields(text), " ") }

// questionProblems returns what is wrong with one question.
func questionProblems(ctx context.Context, q *manifest.Question) (problems []string) {
	report := func(bad bool, format string, arguments ...any) {
		if bad {
			problems = append(problems, fmt.Sprintf(format, arguments...))
		}
	}
	report(!q.Complete(), "a language is missing")
	report(!q.Why.Complete(), "why lacks a language")
	report(len(q.Choices) < 3 || len(q.Choices) > 4, "it has %d choices, not 3 or 4", len(q.Choices))
	computed, err := predict.Run(ctx, q)
	if err != nil {
		return append(problems, err.Error())
	}
	right := computed.Right(q)
	report(right == nil, "the run yields %q, and not exactly one choice says that", computed.Answer)
	seen := map[string]bool{}
	for i := range q.Choices {
		choice := &q.Choices[i]
		report(seen[choice.Is], "two choices are %q", choice.Is)
		seen[choice.Is] = true
		report(!choice.Complete(), "the choice %q lacks a language", choice.Is)
		if choice != right {
			report(!choice.Belief.Complete(), "the wrong choice %q lacks a belief", choice.Is)
		} else {
			report(choice.Belief != texts.Text{}, "the right choice %q has a belief", choice.Is)
		}
	}
	return problems
}
