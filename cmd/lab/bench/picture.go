package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/report"
)

// plot draws the records: a curve for each design in a sweep, otherwise all percentiles, or dots
// for one figure.
func (s *session) plot(records []jobResults) ([]byte, error) {
	first := records[0].rounds.Median()
	numbers := report.Numbers([]*bench.Result{first})
	if last := numbers[len(numbers)-1]; s.varied == "" && s.options.figure == "" && last.Latency {
		return s.percentiles(records, numbers).SVG(), nil
	}
	name := s.options.figure
	if name == "" && s.varied == "rate" {
		name = "p99" // its phase, the paced one, measures latency
	}
	figure, err := figureNamed(name, numbers)
	if err != nil {
		return nil, err
	}
	title := pictureTitle(first.Bench) + ": " + titleOf(figure)
	if s.varied != "" {
		title += " by " + strings.ReplaceAll(s.varied, "-", " ")
	}
	if points, unit, ok := s.numbers(records); ok {
		return s.curves(records, points, unit, title, figure).SVG(), nil
	}
	return s.dots(records, title, figure).SVG(), nil
}

// percentiles draws the latencies: a curve for each record.
func (s *session) percentiles(records []jobResults, numbers []report.Column) report.Lines {
	picture := report.Lines{
		Title:   pictureTitle(records[0].rounds.Last().Bench) + ": latency by percentile",
		Caption: s.caption(records) + "Latency counts from when an event was due.",
		X:       report.Axis{Title: "percentile: the share that took at most this long"},
		Y:       report.Axis{Title: "latency", Unit: bench.Nanoseconds, Log: true},
	}
	for _, number := range numbers {
		if !number.Latency {
			continue
		}
		x := float64(len(picture.X.Ticks))
		picture.X.Ticks = append(picture.X.Ticks, plot.Tick{Value: x, Label: number.Name})
		for _, record := range records {
			point := report.Point{X: x, Y: valueOf(number, record)}
			picture.Series = addPoint(picture.Series, record.label(), point)
		}
	}
	return picture
}

func pictureTitle(name string) string { return "lab bench " + name }

// label returns the name of a record in a legend.
func (r jobResults) label() string {
	if r.design != "" {
		return r.design
	}
	return r.rounds.Last().Subject
}

// caption names the parameters that all records share.
func (s *session) caption(records []jobResults) string {
	var words []string
	for _, parameter := range records[0].rounds.Median().Parameters {
		same := !slices.ContainsFunc(records,
			func(r jobResults) bool { return !slices.Contains(r.rounds.Median().Parameters, parameter) })
		if same && strings.ReplaceAll(parameter.Name, " ", "-") != s.varied && parameter.Name != "seed" {
			words = append(words, parameter.Name+" "+parameter.Value)
		}
	}
	if len(words) == 0 {
		return ""
	}
	return strings.Join(words, ", ") + ". "
}

// curves draws a figure over a numeric parameter.
func (s *session) curves(records []jobResults, xs []float64, unit, title string, figure report.Column) report.Lines {
	picture := report.Lines{
		Title: title, Caption: s.caption(records),
		X: report.Axis{Title: strings.ReplaceAll(s.varied, "-", " "), Log: doubles(xs)},
		Y: report.Axis{Title: titleOf(figure), Unit: figure.Unit},
	}
	for _, x := range slices.Compact(slices.Clone(xs)) { // once for all designs
		picture.X.Ticks = append(picture.X.Ticks, plot.Tick{Value: x, Label: report.Human(x, unit)})
	}
	ys := make([]float64, len(records))
	for i, record := range records {
		point := report.Point{X: xs[i], Y: valueOf(figure, record)}
		ys[i] = point.Y.At
		picture.Series = addPoint(picture.Series, record.label(), point)
	}
	picture.Y.Log = slices.Max(ys) > 50*slices.Min(ys)
	for _, series := range picture.Series {
		slices.SortFunc(series.Points, func(a, b report.Point) int { return cmp.Compare(a.X, b.X) })
	}
	return picture
}

// doubles reports whether the largest value is at least four times the smallest, which a linear
// axis would show badly.
func doubles(xs []float64) bool { return slices.Max(xs) >= 4*slices.Min(xs) }

// addPoint adds a point to the series with the given name, which it adds if it is missing.
func addPoint(all []report.Series, name string, point report.Point) []report.Series {
	at := slices.IndexFunc(all, func(series report.Series) bool { return series.Name == name })
	if at < 0 {
		at = len(all)
		all = append(all, report.Series{Name: name})
	}
	all[at].Points = append(all[at].Points, point)
	return all
}

// dots draws a figure for each design, or for each value of a parameter that is a word.
func (s *session) dots(records []jobResults, title string, figure report.Column) report.Dots {
	axis := report.Axis{Title: titleOf(figure), Unit: figure.Unit}
	picture := report.Dots{Title: title, Caption: s.caption(records), Axis: axis}
	for _, record := range records {
		name, series := record.value, record.label()
		if s.varied == "" {
			name, series = record.label(), record.rounds.Last().Bench
		}
		row := slices.Index(picture.Rows, name)
		if row < 0 {
			row = len(picture.Rows)
			picture.Rows = append(picture.Rows, name)
		}
		picture.Series = addPoint(picture.Series, series, report.Point{X: float64(row), Y: valueOf(figure, record)})
	}
	return picture
}

// numbers returns the values of the varied parameter and their unit, if they are numbers.
func (s *session) numbers(records []jobResults) (values []float64, unit string, ok bool) {
	if s.varied == "" {
		return nil, "", false
	}
	for _, record := range records {
		if duration, err := time.ParseDuration(record.value); err == nil && record.value != "0" {
			values, unit = append(values, float64(duration)), bench.Nanoseconds
			continue
		}
		value, err := strconv.ParseFloat(record.value, 64)
		if err != nil {
			return nil, "", false
		}
		values = append(values, value)
	}
	switch {
	case unit != "":
	case s.varied == "rate":
		unit = bench.PerSecond
	default:
		unit = bench.Count
	}
	return values, unit, true
}

// valueOf returns what the table has, with a whisker from the least to the greatest of the rounds.
func valueOf(number report.Column, record jobResults) report.Value {
	values := record.rounds.Values(number.Number)
	if len(values) == 1 {
		return report.Value{At: values[0]}
	}
	return report.Value{At: number.Number(record.rounds.Median()), Low: slices.Min(values), High: slices.Max(values)}
}

func titleOf(number report.Column) string {
	switch {
	case number.Unit == bench.PerSecond:
		return number.Name + " per second"
	case number.Latency:
		return "latency, " + number.Name
	default:
		return number.Name
	}
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
