package main

import (
	"bytes"
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"orrery/internal/lab/bench"
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

// human formats a figure with its unit: "83.1 ns", "1.2 M/s".
func human(value float64, unit string) string {
	switch unit {
	case "ns", "ns/op", "ns/event":
		return bench.Human(value, bench.Nanoseconds)
	case "ms":
		return bench.Human(value*1e6, bench.Nanoseconds)
	case "s":
		return bench.Human(value, bench.Seconds)
	case "B/op":
		return bench.Human(value, bench.Bytes)
	case "MiB":
		return bench.Human(value*(1<<20), bench.Bytes)
	case "1/s":
		return bench.Human(value, bench.PerSecond)
	case "allocs/op", "allocs/event":
		return bench.Human(value, bench.Count) + " allocs"
	default:
		return bench.Human(value, bench.Count) + " " + unit
	}
}

// times formats a ratio with two digits.
func times(ratio float64) string {
	switch size := math.Abs(ratio); {
	case size >= 100:
		text := strconv.FormatFloat(ratio, 'f', 0, 64)
		if at := len(text) - 3; at > 0 {
			text = text[:at] + "," + text[at:]
		}
		return text
	case size >= 10:
		return strconv.FormatFloat(ratio, 'f', 1, 64)
	case size >= 0.095 || size == 0:
		return strconv.FormatFloat(ratio, 'f', 2, 64)
	default:
		behind := 1 - int(math.Floor(math.Log10(size)))
		return strconv.FormatFloat(ratio, 'f', behind, 64)
	}
}

// wanted formats the target of a record: "≤ 0.25", "≥ 1,000", "≤ 2 allocs".
func wanted(r Record) string {
	sign := "≤ "
	if r.Better == bench.Higher {
		sign = "≥ "
	}
	switch r.Kind {
	case Ratio:
		return sign + times(r.Target)
	case Value:
		return sign + human(r.Target, r.Unit)
	default:
		return ""
	}
}

// textbook formats the textbook form's figure and ratio, "440 ns (3.3)", or returns "".
func textbook(r Record) string {
	if r.Textbook == nil {
		return ""
	}
	return human(r.Textbook.Figure, r.Unit) + " (" + times(r.Textbook.Ratio) + ")"
}

// reach formats the ratios of the rounds: "0.21–0.26".
func reach(r Record) string { return times(r.Low) + "–" + times(r.High) }

// percent formats a spread.
func percent(spread float64) string { return fmt.Sprintf("%.0f %%", spread*100) }
