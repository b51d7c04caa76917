package verify

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"orrery/internal/lab/labs/bilingual"
	"orrery/internal/lab/labs/manifest"
	"orrery/internal/lab/labs/stub"
	"orrery/internal/lab/labs/texts"
)

// headings are the headings of a lab's page in each language.
var headings = map[texts.Lang][]string{
	texts.English: {"You will be able to", "Words", "Code map", "Predict", "Do", "Check", "See it", "Go further"},
	texts.Chinese: {"学完之后你能", "术语", "代码地图", "先猜一猜", "动手", "检验", "亲眼看看", "再进一步"},
}

// titles are the forms of the title of a lab's page, from its id and the title in the manifest.
var titles = map[texts.Lang]string{texts.English: "Lab %s: %s", texts.Chinese: "实验 %s：%s"}

// pageProblems compares the two pages of a lab.
func pageProblems(lab *manifest.Lab, pages map[texts.Lang]bilingual.Page) (problems []string) {
	for _, lang := range texts.Langs {
		if want := []string{fmt.Sprintf(titles[lang], lab.ID, lab.Title.In(lang))}; !slices.Equal(pages[lang].Titles(1), want) {
			problems = append(problems, fmt.Sprintf("%s: the title is %q, and should be %q", lang, pages[lang].Titles(1), want))
		}
		if found := pages[lang].Titles(2); !slices.Equal(found, headings[lang]) {
			problems = append(problems, fmt.Sprintf("%s: the headings are %q, and should be %q", lang, found, headings[lang]))
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return bilingual.Differences(pages[texts.English], pages[texts.Chinese])
}

// languages: both pages of a lab agree, and neither shows a line of a removed body; nor do hints.
func languages(_ context.Context, s *subject) ([]string, error) {
	pages, shown := map[texts.Lang]bilingual.Page{}, ""
	for _, lang := range texts.Langs {
		text, err := os.ReadFile(s.lab.Readme(lang))
		if err != nil {
			return []string{err.Error()}, nil
		}
		pages[lang] = bilingual.Parse(string(text))
		shown += string(text)
	}
	problems := pageProblems(s.lab, pages)
	for _, hint := range s.lab.Hints.Rungs {
		shown += hint.English + hint.Chinese
	}
	for _, hint := range s.lab.Hints.State {
		shown += hint.English + hint.Chinese
	}
	for _, page := range s.lab.Files {
		text, err := s.source(page.Path)
		if err != nil {
			return nil, err
		}
		reference, err := stub.Parse(page.Path, text)
		if err != nil {
			return nil, err
		}
		for _, problem := range linesOfBodies(reference, page, shown) {
			problems = append(problems, strings.Replace(problem, "the stub still has", "a page or hint has", 1))
		}
	}
	return problems, nil
}
