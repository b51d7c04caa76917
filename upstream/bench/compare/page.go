package compare

import (
	"bytes"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
)

//go:embed page.tmpl
var pageTemplate string

// Page returns the files of the page by their names below docs: benchmarks.md and its picture. It
// computes every word that depends on a figure.
func Page(results Results) (map[string][]byte, error) {
	p := page{Results: results, measures: slices.Concat(Measures(), Extras())}
	for _, group := range groups {
		c, err := readChapter(group.name)
		if err != nil {
			return nil, fmt.Errorf("texts/%s.md: %w", group.name, err)
		}
		for _, name := range slices.Concat(slices.Collect(maps.Keys(c.why)), slices.Collect(maps.Keys(c.anew))) {
			if m, ok := p.measure(name); !ok || m.Kind == None {
				return nil, fmt.Errorf("texts/%s.md: a section is about the target of %s, which has none", group.name, name)
			}
		}
		p.Chapters = append(p.Chapters, pageChapter{page: &p, Name: group.name, Title: group.title, chapter: c})
	}
	parsed, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := parsed.Execute(&text, &p); err != nil {
		return nil, err
	}
	return map[string][]byte{"benchmarks.md": text.Bytes(), "benchmarks/ratios.svg": p.ratios().SVG()}, nil
}

// page is the data of the template.
type page struct {
	Results
	Chapters []pageChapter
	measures []Measure
}

type pageChapter struct {
	chapter
	page        *page
	Name, Title string
}

// section is a scenario of a chapter.
type section struct {
	Scenario, How, Proof string
	Rows                 []row
	Anew, Why            []reason
	// Worker reports whether a worker program can run one side alone; whole programs have none.
	Worker bool
	// Different reports that the work differs on purpose, so that the proof is ours alone.
	Different bool
}

// reason explains a missed or a changed target.
type reason struct{ Title, Text string }

// row is a measure in a table.
type row struct {
	Title, Against, Ours, Theirs, Textbook, Ratio, Rounds, Spread, Target, Verdict string
	// Anchor is the measure's section.
	Anchor string
}

func (p *page) row(r Record) row {
	m, _ := p.measure(r.Name)
	scenario, _, _ := strings.Cut(r.Name, " ")
	verdict := string(r.Verdict)
	switch r.Verdict {
	case Missed:
		verdict = "**missed**"
	case Shown:
		verdict = ""
	}
	against := m.Against
	if m.isWholePrograms() {
		against = "kube-controller-manager"
	}
	return row{
		Title: m.Title, Against: string(against), Ours: human(r.Ours, r.Unit), Theirs: human(r.Theirs, r.Unit), Textbook: textbook(r),
		Ratio: times(r.Ratio), Rounds: reach(r), Spread: percent(r.Spread), Target: wanted(r), Verdict: verdict,
		Anchor: "#" + strings.ReplaceAll(scenario, "/", ""),
	}
}

func (p *page) measure(name string) (Measure, bool) {
	i := slices.IndexFunc(p.measures, func(m Measure) bool { return m.Name == name })
	if i < 0 {
		return Measure{}, false
	}
	return p.measures[i], true
}

// Summary returns a sentence about all targets.
func (p *page) Summary() string { return Summary(p.Targets()) }

// TargetRows returns the rows of the table at the top.
func (p *page) TargetRows() []row {
	var rows []row
	for _, r := range p.Targets() {
		rows = append(rows, p.row(r))
	}
	return rows
}

// Rounds returns the number of rounds.
func (p *page) Rounds() int {
	most := 0
	for _, r := range p.Targets() {
		most = max(most, r.Rounds)
	}
	return most
}

// Memory returns the machine's memory.
func (p *page) Memory() string { return human(float64(p.Machine.Memory)/(1<<20), "MiB") }

// Sections returns the scenarios of a chapter, in the order of its text.
func (c pageChapter) Sections() ([]section, error) {
	var sections []section
	for _, scenario := range c.order {
		s := section{Scenario: scenario, How: c.how[scenario], Worker: !Measure{Scenario: scenario}.isWholePrograms()}
		for _, r := range c.page.Records {
			if named, _, _ := strings.Cut(r.Name, " "); named != scenario {
				continue
			}
			s.Rows = append(s.Rows, c.page.row(r))
			if s.Proof == "" {
				m, _ := c.page.measure(r.Name)
				s.Proof, s.Different = r.Proof, m.Different
			}
			if anew, ok := c.anew[r.Name]; ok {
				m, _ := c.page.measure(r.Name)
				s.Anew = append(s.Anew, reason{Title: m.Title, Text: anew})
			}
			if why, ok := c.why[r.Name]; ok && r.Verdict == Missed {
				m, _ := c.page.measure(r.Name)
				s.Why = append(s.Why, reason{Title: m.Title, Text: why})
			}
		}
		if len(s.Rows) == 0 {
			return nil, fmt.Errorf("a section is about %s, which has no record", scenario)
		}
		sections = append(sections, s)
	}
	return sections, nil
}

// Intro returns the chapter's introduction.
func (c pageChapter) Intro() string { return c.intro }

//go:embed texts/*.md
var textFiles embed.FS

// groups lists the chapters of the page in order; each has a file in texts/.
var groups = []struct{ name, title string }{
	{"queue", "The work queue"},
	{"fifo", "DeltaFIFO"},
	{"store", "The indexer"},
	{"dispatch", "From the watch to the handlers"},
	{"sync", "The first sync"},
	{"deletion", "Deleting namespaces on a control plane"},
}

// chapter is the content of a file in texts/: an introduction, and how each scenario is measured. A
// section "missed" with the name of a measure explains a missed target, and appears on the page
// only while it is missed. A section "anew" states a former target and why it was changed; it
// always appears.
type chapter struct {
	intro string
	how   map[string]string // by scenario
	why   map[string]string // by measure
	anew  map[string]string // by measure
	order []string          // of the scenarios
}

// readChapter reads a file of texts/.
func readChapter(name string) (chapter, error) {
	text, err := textFiles.ReadFile("texts/" + name + ".md")
	if err != nil {
		return chapter{}, err
	}
	return parseChapter(string(text))
}

func parseChapter(text string) (chapter, error) {
	c := chapter{how: make(map[string]string), why: make(map[string]string), anew: make(map[string]string)}
	parts := strings.Split("\n"+text, "\n## ")
	c.intro = strings.TrimSpace(parts[0])
	for _, part := range parts[1:] {
		heading, body, _ := strings.Cut(part, "\n")
		into, key := c.how, strings.TrimSpace(heading)
		if measure, ok := strings.CutPrefix(key, "missed "); ok {
			into, key = c.why, measure
		} else if measure, ok := strings.CutPrefix(key, "anew "); ok {
			into, key = c.anew, measure
		} else {
			c.order = append(c.order, key)
		}
		if _, twice := into[key]; twice {
			return chapter{}, fmt.Errorf("two sections are called %q", heading)
		}
		if into[key] = strings.TrimSpace(body); into[key] == "" {
			return chapter{}, fmt.Errorf("the section %q is empty", heading)
		}
	}
	return c, nil
}
