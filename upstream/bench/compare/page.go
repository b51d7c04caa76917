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

// Page returns docs/measure/benchmarks.md. It computes every word that depends on a figure: texts/
// has a template for each chapter.
func Page(results Results) ([]byte, error) {
	p := page{results}
	functions := template.FuncMap{"scenario": p.scenario, "title": p.title, "missed": p.missed}
	parsed, err := template.New("page.tmpl").Funcs(functions).ParseFS(pageFiles, "page.tmpl", "texts/*.md")
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = parsed.Execute(&text, &p)
	return text.Bytes(), err
}

// page is the data of the template.
type page struct{ Results }

// scenario is the data of a table.
type scenario struct {
	Name, Proof string
	Rows        []row
	// Worker reports whether a worker program can run one side alone; whole programs have none.
	Worker bool
	// Differs reports that the proof is ours alone.
	Differs bool
}

// scenario returns the rows of a scenario.
func (p *page) scenario(name string) (scenario, error) {
	s := scenario{Name: name, Worker: !strings.HasPrefix(name, "deletion/")}
	for _, r := range p.Records {
		if r.section() != name {
			continue
		}
		s.Rows, s.Proof, s.Differs = append(s.Rows, newRow(r)), r.Proof, r.Differs
	}
	if len(s.Rows) == 0 {
		return s, fmt.Errorf("a section is about %s, which has no record", name)
	}
	return s, nil
}

// title returns the title of a measure that has a target.
func (p *page) title(name string) (string, error) {
	i := slices.IndexFunc(p.Records, func(r Record) bool { return r.Name == name && r.Kind != None })
	if i < 0 {
		return "", fmt.Errorf("a section is about the target of %s, which has none", name)
	}
	return p.Records[i].Title, nil
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

func newRow(r Record) row {
	verdict := string(r.Verdict)
	switch r.Verdict {
	case Missed:
		verdict = "**missed**"
	case Shown:
		verdict = ""
	}
	against := string(r.Against)
	if r.isOf("deletion") {
		against = "kube-controller-manager"
	}
	return row{
		Title: r.Title, Against: against,
		Ours: human(r.Ours, r.Unit), Theirs: human(r.Theirs, r.Unit), Textbook: textbook(r),
		Ratio: times(r.Ratio), Rounds: reach(r), Spread: percent(r.Spread), Target: wanted(r), Verdict: verdict,
		Anchor: "#" + strings.ReplaceAll(r.section(), "/", ""),
	}
}

// Summary returns a sentence about all targets.
func (p *page) Summary() string { return Summary(p.Targets()) }

// TargetRows returns the rows of the table at the top.
func (p *page) TargetRows() (rows []row) {
	for _, r := range p.Targets() {
		rows = append(rows, newRow(r))
	}
	return rows
}

// Rounds returns the number of rounds.
func (p *page) Rounds() int { return p.Records[0].Rounds }

// Memory returns the machine's memory.
func (p *page) Memory() string { return human(float64(p.Machine.Memory)/(1<<20), "MiB") }
