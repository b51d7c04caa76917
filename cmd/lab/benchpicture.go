package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/report"
)

// picture draws the records: in a sweep a figure over the varied flag, otherwise the latencies by
// percentile, each with a curve for every design.
func (s *benchRun) picture(records []jobResults) (*report.Picture, error) {
	var medians []*bench.Result
	for _, record := range records {
		medians = append(medians, record.rounds.Median())
	}
	p := &report.Picture{Title: "lab bench " + medians[0].Bench, Caption: report.Shared(medians, s.varied)}
	numbers := report.Numbers(medians[:1])
	if s.varied == "" {
		percentiles(p, records, numbers)
		return p, nil
	}
	figure, err := figureNamed(s.figure(), numbers)
	if err != nil {
		return nil, err
	}
	p.X, p.Y, p.Unit = strings.ReplaceAll(s.varied, "-", " "), figure.Name, figure.Unit
	var values []float64
	for i, record := range records {
		x := record.x
		if !record.isNumber { // words stand side by side
			x = float64(slices.IndexFunc(records, func(r jobResults) bool { return r.value == record.value }))
		}
		p.Ticks = append(p.Ticks, plot.Tick{Value: x, Label: record.value})
		p.Add(medians[i].Subject, point(x, figure, record))
		values = append(values, figure.Number(medians[i]))
	}
	// A linear axis would show badly what doubles, or what differs by much.
	p.LogX = records[0].isNumber && records[len(records)-1].x >= 4*records[0].x
	p.LogY = slices.Max(values) > 50*slices.Min(values)
	return p, nil
}

// percentiles draws the latencies of each record.
func percentiles(p *report.Picture, records []jobResults, numbers []report.Column) {
	p.X, p.Y = "percentile: the share that took at most this long", "latency, from when an event was due"
	p.Unit, p.LogY = bench.Nanoseconds, true
	for _, number := range numbers {
		if !number.Latency {
			continue
		}
		x := float64(len(p.Ticks))
		p.Ticks = append(p.Ticks, plot.Tick{Value: x, Label: number.Name})
		for _, record := range records {
			p.Add(record.rounds[0].Subject, point(x, number, record))
		}
	}
}

// point is what the table has, with a whisker from the least to the greatest of the rounds.
func point(x float64, number report.Column, record jobResults) report.Point {
	values := record.rounds.Values(number)
	median := number.Number(record.rounds.Median())
	return report.Point{X: x, Y: median, Low: min(slices.Min(values), median), High: max(slices.Max(values), median)}
}

// figure returns the name of the figure to plot; "" is the first.
func (s *benchRun) figure() string {
	if s.options.figure == "" && s.varied == "rate" {
		return "p99" // its phase, the paced one, measures latency
	}
	return s.options.figure
}

// figureNamed returns one of the numbers; without a name the first, which is the most important.
func figureNamed(name string, numbers []report.Column) (report.Column, error) {
	var figures []string
	for _, number := range numbers {
		if name == "" || strings.EqualFold(number.Name, name) {
			return number, nil
		}
		if !number.Latency {
			figures = append(figures, strconv.Quote(number.Name))
		}
	}
	return report.Column{}, fmt.Errorf("there is no figure %q to plot; use one of %s, or a percentile",
		name, strings.Join(figures, ", "))
}
