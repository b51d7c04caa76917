package main

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

//go:embed page.tmpl texts/*.md
var pageFiles embed.FS

// Page returns the files of the page by their names below docs: benchmarks.md and its picture. It
// computes every word that depends on a figure: texts/ has a template for each chapter.
func Page(results Results) (map[string][]byte, error) {
	p := page{Results: results, measures: slices.Concat(Measures(), Extras())}
	functions := template.FuncMap{"scenario": p.scenario, "title": p.title, "missed": p.missed}
	parsed, err := template.New("page.tmpl").Funcs(functions).ParseFS(pageFiles, "page.tmpl", "texts/*.md")
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
	measures []Measure
}

// scenario is the data of a table.
type scenario struct {
	Name, Proof string
	Rows        []row
	// Worker reports whether a worker program can run one side alone; whole programs have none.
	Worker bool
	// Different reports that the work differs on purpose, so that the proof is ours alone.
	Different bool
}

// scenario returns the rows of a scenario.
func (p *page) scenario(name string) (scenario, error) {
	s := scenario{Name: name, Worker: !Measure{Scenario: name}.isWholePrograms()}
	for _, r := range p.Records {
		if named, _, _ := strings.Cut(r.Name, " "); named != name {
			continue
		}
		if s.Rows = append(s.Rows, p.row(r)); s.Proof == "" {
			m, _ := p.measure(r.Name)
			s.Proof, s.Different = r.Proof, m.Different
		}
	}
	if len(s.Rows) == 0 {
		return s, fmt.Errorf("a section is about %s, which has no record", name)
	}
	return s, nil
}

// title returns the title of a measure that has a target.
func (p *page) title(name string) (string, error) {
	m, ok := p.measure(name)
	if !ok || m.Kind == None {
		return "", fmt.Errorf("a section is about the target of %s, which has none", name)
	}
	return m.Title, nil
}

// missed reports whether a target is missed.
func (p *page) missed(name string) bool {
	return slices.ContainsFunc(p.Records, func(r Record) bool { return r.Name == name && r.Verdict == Missed })
}

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
	against := string(m.Against)
	switch {
	case m.isOf("deletion"):
		against = "kube-controller-manager"
	case m.isOf("server"):
		against = "a control plane"
	}
	return row{
		Title: m.Title, Against: against,
		Ours: human(r.Ours, r.Unit), Theirs: human(r.Theirs, r.Unit), Textbook: textbook(r),
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
