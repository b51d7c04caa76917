// Package bilingual compares a page in English with the same page in Chinese. A translation may
// word a paragraph freely. It must have the same headings, the same code blocks byte for byte, and
// in each section the same inline code, the same links and tables of the same shape. Then neither
// language can fall behind the other unnoticed.
package bilingual

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Page is a Markdown page, split at its headings.
type Page struct {
	Headings []Heading
	// sections are the texts below the headings, without code blocks. The first is that before
	// the first heading.
	sections []string
	blocks   []string
}

// Heading is a heading of a page.
type Heading struct {
	Level int
	Text  string
}

var headingForm = regexp.MustCompile(`^(#{1,6}) (.*)`)

// Parse returns the page with that text.
func Parse(text string) Page {
	p := Page{sections: []string{""}}
	fenced, block := false, ""
	for line := range strings.Lines(text) {
		heading := headingForm.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			if fenced {
				p.blocks = append(p.blocks, block)
			}
			fenced, block = !fenced, line
		case fenced:
			block += line
		case heading != nil:
			p.Headings = append(p.Headings, Heading{Level: len(heading[1]), Text: strings.TrimSpace(heading[2])})
			p.sections = append(p.sections, line)
		default:
			p.sections[len(p.sections)-1] += line
		}
	}
	return p
}

// Titles returns the headings of one level.
func (p Page) Titles(level int) (titles []string) {
	for _, heading := range p.Headings {
		if heading.Level == level {
			titles = append(titles, heading.Text)
		}
	}
	return titles
}

// Section returns the text below the heading, or "" if there is none. The text has no code blocks.
func (p Page) Section(heading string) string {
	for i, found := range p.Headings {
		if found.Text == heading {
			_, text, _ := strings.Cut(p.sections[i+1], "\n")
			return text
		}
	}
	return ""
}

func (p Page) levels() (levels []int) {
	for _, heading := range p.Headings {
		levels = append(levels, heading.Level)
	}
	return levels
}

// Differences returns a sentence for each thing in which the two pages differ.
func Differences(english, chinese Page) (problems []string) {
	if en, zh := english.levels(), chinese.levels(); !slices.Equal(en, zh) {
		return []string{fmt.Sprintf("the two pages have headings of other levels: %v and %v", en, zh)}
	}
	if len(english.blocks) != len(chinese.blocks) {
		problems = append(problems, fmt.Sprintf("the two pages have different code blocks: %d and %d", len(english.blocks), len(chinese.blocks)))
	} else {
		for i, block := range english.blocks {
			if block != chinese.blocks[i] {
				problems = append(problems, fmt.Sprintf("the two pages have different code blocks: %q and %q", block, chinese.blocks[i]))
			}
		}
	}
	for i := range english.sections {
		name := "before the first heading"
		if i > 0 {
			name = english.Headings[i-1].Text
		}
		for what, find := range map[string]func(string) []string{"inline code": spans, "links": links} {
			if en, zh := find(english.sections[i]), find(chinese.sections[i]); !slices.Equal(en, zh) {
				problems = append(problems, fmt.Sprintf("%s: %s differ: only English %q, only Chinese %q", name, what, without(en, zh), without(zh, en)))
			}
		}
		if en, zh := items(english.sections[i]), items(chinese.sections[i]); en != zh {
			problems = append(problems, fmt.Sprintf("%s: the lists have %d and %d items", name, en, zh))
		}
		problems = append(problems, tableDifferences(name, english.sections[i], chinese.sections[i])...)
	}
	slices.Sort(problems)
	return problems
}

var (
	itemForm = regexp.MustCompile(`(?m)^ *(?:[-*]|\d+\.) `)
	spanForm = regexp.MustCompile("`[^`\n]+`")
	linkForm = regexp.MustCompile(`\]\(([^)\s#]*)(#[^)\s]*)?\)`)
)

// items returns the number of list items in a text.
func items(text string) int { return len(itemForm.FindAllString(text, -1)) }

// spans returns the inline code of a text, sorted: a translation may say it in another order.
func spans(text string) []string {
	found := spanForm.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// links returns where the links of a text lead, sorted. A page or picture and its Chinese form are
// the same. The heading in a link does not count, because it has the words of the page's language.
func links(text string) (found []string) {
	for _, link := range linkForm.FindAllStringSubmatch(text, -1) {
		found = append(found, strings.Replace(link[1], ".zh-CN.", ".", 1))
	}
	slices.Sort(found)
	return found
}

// without returns the elements of a that b lacks.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// tableDifferences compares the rows of the tables: their number, their columns, and in each cell
// the inline code and the links.
func tableDifferences(section, english, chinese string) (problems []string) {
	en, zh := rows(english), rows(chinese)
	if !slices.EqualFunc(en, zh, func(a, b []string) bool { return len(a) == len(b) }) {
		return []string{fmt.Sprintf("%s: the tables have other shapes: %d and %d rows, or other columns", section, len(en), len(zh))}
	}
	for i := range en {
		for j := range en[i] {
			if !slices.Equal(spans(en[i][j]), spans(zh[i][j])) || !slices.Equal(links(en[i][j]), links(zh[i][j])) {
				problems = append(problems, fmt.Sprintf("%s: the cells of a table differ: %q and %q", section, en[i][j], zh[i][j]))
			}
		}
	}
	return problems
}

// rows returns the cells of each row of a table in the text.
func rows(text string) (rows [][]string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|") {
			rows = append(rows, strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|"))
		}
	}
	return rows
}
