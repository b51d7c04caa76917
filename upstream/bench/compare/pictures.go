package main

import (
	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/report"
)

// ratios shows how many times better each ratio with a target is, so that better is to the right.
func (p *page) ratios() report.Dots {
	d := report.Dots{
		Title: "How many times better than client-go",
		Caption: "Medians, from the worst round to the best. To the right of 1 is better than client-go: " +
			"less time, less memory, or more work in a second.",
		Axis: report.Axis{Title: "times better", Unit: "×", Log: true},
	}
	better, target := report.Series{Name: "measured"}, report.Series{Name: "target"}
	for _, r := range p.Targets() {
		if r.TargetKind != Ratio || r.Ratio <= 0 || r.Low <= 0 {
			continue
		}
		m, _ := p.measure(r.Name)
		value, wanted := report.Value{At: r.Ratio, Low: r.Low, High: r.High}, report.Value{At: r.Target}
		if r.Better == bench.Lower {
			value = report.Value{At: 1 / r.Ratio, Low: 1 / r.High, High: 1 / r.Low}
			wanted.At = 1 / r.Target
		}
		row := float64(len(d.Rows))
		d.Rows = append(d.Rows, m.Title)
		better.Points = append(better.Points, report.Point{X: row, Y: value})
		target.Points = append(target.Points, report.Point{X: row, Y: wanted})
	}
	d.Series = []report.Series{better, target}
	return d
}
