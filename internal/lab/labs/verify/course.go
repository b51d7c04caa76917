package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"orrery/internal/lab/demo/scenes"
	"orrery/internal/lab/labs/glossary"
	"orrery/internal/lab/labs/kit"
	"orrery/internal/lab/labs/schedule"
	"orrery/internal/lab/labs/texts"
	"orrery/internal/lab/labs/tour"
)

// schedules: the minutes of the labs add up to the target of each plan.
func schedules(_ context.Context, s *subject) ([]string, error) {
	course, err := schedule.Load(s.repository)
	if err != nil {
		return nil, err
	}
	return course.Problems(s.all), nil
}

// terms: the glossary is complete, its pages are written from it, and every term that a lab's page
// explains is in it.
func terms(_ context.Context, s *subject) ([]string, error) {
	g, err := glossary.Load(s.repository)
	if err != nil {
		return nil, err
	}
	course, err := schedule.Load(s.repository)
	if err != nil {
		return nil, err
	}
	var planned []string
	for _, lab := range course.Planned {
		planned = append(planned, lab.ID)
	}
	problems := g.Problems(s.repository, s.all, planned)
	for _, lang := range texts.Langs {
		page, err := os.ReadFile(filepath.Join(s.repository, filepath.FromSlash(glossary.Page(lang))))
		if err != nil || string(page) != g.Markdown(lang) {
			problems = append(problems, fmt.Sprintf("%s is not what %s says; type: make glossary", glossary.Page(lang), glossary.File))
		}
	}
	for _, lab := range s.all {
		words := map[texts.Lang][]string{}
		for _, lang := range texts.Langs {
			page, err := os.ReadFile(lab.Readme(lang))
			if err != nil {
				return nil, err
			}
			words[lang] = glossary.Words(string(page), lang)
		}
		problems = append(problems, g.WordProblems(lab.ID, words[texts.English], words[texts.Chinese])...)
	}
	return problems, nil
}

// tourStops: the stops of the reading tour resolve.
func tourStops(_ context.Context, s *subject) ([]string, error) {
	trip, err := tour.Load(s.repository)
	if err != nil {
		return nil, err
	}
	return trip.Problems(s.repository), nil
}

// instructorsKit: the workshop's page leads to each lab, each lab has its pages for teachers, and
// each plan its handout.
func instructorsKit(_ context.Context, s *subject) (problems []string, err error) {
	course, err := schedule.Load(s.repository)
	if err != nil {
		return nil, err
	}
	problems = kit.EntranceProblems(s.repository, s.all)
	for _, lab := range s.all {
		problems = append(problems, kit.LabProblems(s.repository, lab, isScene)...)
	}
	for _, plan := range course.Plans {
		problems = append(problems, kit.HandoutProblems(s.repository, plan)...)
	}
	return problems, nil
}

func isScene(name string) bool {
	_, err := scenes.Named(name)
	return err == nil
}
