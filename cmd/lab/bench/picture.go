package bench

import (
	"cmp"
	"fmt"
	"math"
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
	if s.varied == "" && s.options.figure == "" && first.Latency != nil && first.Latency.Count() > 0 {
		picture := report.PercentilePlot{
			Title:   pictureTitle(first.Bench) + ": latency by percentile",
			Caption: s.caption(records) + "Latency counts from when an event was due.",
		}
		for _, record := range records {
			picture.Series = append(picture.Series,
				report.Distribution{Name: record.label(), Latency: record.rounds.Median().Latency})
		}
		return picture.SVG(), nil
	}
	name := s.options.figure
	if name == "" && s.varied == "rate" {
		name = "p99" // its phase, the paced one, measures latency
	}
	figure, err := figureNamed(name, records)
	if err != nil {
		return nil, err
	}
	title := pictureTitle(first.Bench) + ": " + figure.title()
	if s.varied != "" {
		title += " by " + strings.ReplaceAll(s.varied, "-", " ")
	}
	if points, unit, ok := s.numbers(records); ok {
		return s.curves(records, points, unit, title, figure).SVG(), nil
	}
	return s.dots(records, title, figure).SVG(), nil
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
func (s *session) curves(records []jobResults, xs []float64, unit, title string, figure plottable) report.Lines {
	picture := report.Lines{
		Title: title, Caption: s.caption(records),
		X: report.Axis{Title: strings.ReplaceAll(s.varied, "-", " "), Log: doubles(xs)},
		Y: report.Axis{Title: figure.title(), Unit: figure.unit},
	}
	for _, x := range slices.Compact(slices.Clone(xs)) { // once for all designs
		picture.X.Ticks = append(picture.X.Ticks, plot.Tick{Value: x, Label: report.Human(x, unit)})
	}
	ys := make([]float64, len(records))
	for i, record := range records {
		point := report.Point{X: xs[i], Y: figure.valueOf(record)}
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
func (s *session) dots(records []jobResults, title string, figure plottable) report.Dots {
	axis := report.Axis{Title: figure.title(), Unit: figure.unit}
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
		picture.Series = addPoint(picture.Series, series, report.Point{X: float64(row), Y: figure.valueOf(record)})
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

// plottable is a figure that can be plotted.
type plottable struct {
	name, unit string
	percentile bool
	of         func(*bench.Result) float64
}

// valueOf returns the median over the rounds, with a whisker from minimum to maximum.
func (f plottable) valueOf(record jobResults) report.Value {
	values := record.rounds.Values(f.of)
	if len(values) == 1 {
		return report.Value{At: values[0]}
	}
	return report.Value{At: bench.Median(values), Low: slices.Min(values), High: slices.Max(values)}
}

func (f plottable) title() string {
	switch {
	case f.unit == bench.PerSecond:
		return f.name + " per second"
	case f.percentile:
		return "latency, " + f.name
	default:
		return f.name
	}
}

// figureNamed returns a figure of the records; without a name the first, which is the most
// important.
func figureNamed(name string, records []jobResults) (plottable, error) {
	first := records[0].rounds.Median()
	for _, percentile := range report.Percentiles {
		if percentile.Name == name && first.Latency != nil {
			of := func(r *bench.Result) float64 { return float64(r.Latency.Quantile(percentile.Q)) }
			return plottable{name, bench.Nanoseconds, true, of}, nil
		}
	}
	var names []string
	for _, figure := range first.Figures {
		if name == "" || strings.EqualFold(figure.Name, name) {
			return plottable{figure.Name, figure.Unit, false, func(r *bench.Result) float64 {
				if found, ok := r.Figure(figure.Name); ok {
					return found.Value
				}
				return math.NaN()
			}}, nil
		}
		names = append(names, strconv.Quote(figure.Name))
	}
	return plottable{}, fmt.Errorf("there is no figure %q to plot; use one of %s, or a percentile", name, strings.Join(names, ", "))
}
