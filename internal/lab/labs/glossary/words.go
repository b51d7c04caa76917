package glossary

import (
	"fmt"
	"slices"
	"strings"

	"orrery/internal/lab/labs/texts"
)

// wordsHeadings are the headings of the section of terms on a lab's page.
var wordsHeadings = map[texts.Lang]string{texts.English: "## Words\n", texts.Chinese: "## 术语\n"}

// Words returns the terms in the first column of the table of terms on a lab's page. A Chinese term
// stands without the English one, which may follow in parentheses.
func Words(page string, lang texts.Lang) (terms []string) {
	_, section, _ := strings.Cut(page, wordsHeadings[lang])
	section, _, _ = strings.Cut(section, "\n## ")
	rows := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 2 {
			continue
		}
		if rows++; rows > 2 { // below the heading
			term, _, _ := strings.Cut(strings.ReplaceAll(cells[1], "`", ""), "（")
			terms = append(terms, strings.TrimSpace(term))
		}
	}
	return terms
}

// WordProblems compares the terms on the two pages of a lab with the glossary.
func (g *Glossary) WordProblems(lab string, english, chinese []string) (problems []string) {
	if len(english) != len(chinese) {
		return []string{fmt.Sprintf("lab %s: %d terms in English, and %d in Chinese", lab, len(english), len(chinese))}
	}
	for i, name := range english {
		at := slices.IndexFunc(g.Terms, func(t Term) bool { return strings.EqualFold(t.Name.English, name) })
		switch {
		case at < 0:
			problems = append(problems, fmt.Sprintf("lab %s: %s lacks the term %q", lab, File, name))
		case g.Terms[at].Name.Chinese != chinese[i]:
			problems = append(problems, fmt.Sprintf("lab %s: %q is %s in %s, and %s on the page", lab, name, g.Terms[at].Name.Chinese, File, chinese[i]))
		case !slices.Contains(g.Terms[at].Labs, lab):
			problems = append(problems, fmt.Sprintf("lab %s: it explains %q; add it to the labs of that term in %s", lab, name, File))
		}
	}
	return problems
}
