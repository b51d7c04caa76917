package bench

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/plot"
)

// plot draws the records: a curve for each design in a sweep, otherwise all percentiles, or bars
// for one figure.
func (s *session) plot(records []jobResults) ([]byte, error) {
	first := records[0].median()
	if s.varied == "" && s.options.figure == "" && first.Latency != nil && first.Latency.Count() > 0 {
		picture := plot.Percentiles{
			Title:   pictureTitle(first.Bench) + ": latency by percentile",
			Caption: s.caption(records) + "Latency counts from when an event was due.",
		}
		if s.ownRates && len(records) > 1 {
			picture.Caption += " Each at half of its own throughput."
		}
		for _, record := range records {
			picture.Series = append(picture.Series, plot.Distribution{Name: record.label(), Latency: record.median().Latency})
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
	return s.bars(records, title, figure).SVG(), nil
}

func pictureTitle(name string) string { return "lab bench " + name }

// label returns the name of a record in a legend.
func (r jobResults) label() string {
	if r.design != "" {
		return r.design
	}
	return r.last().Subject
}

// caption names the parameters that all records share.
func (s *session) caption(records []jobResults) string {
	var words []string
	for _, parameter := range records[0].median().Parameters {
		same := !slices.ContainsFunc(records, func(r jobResults) bool { return !slices.Contains(r.median().Parameters, parameter) })
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
func (s *session) curves(records []jobResults, xs []float64, unit, title string, figure plottable) plot.Lines {
	picture := plot.Lines{
		Title: title, Caption: s.caption(records),
		X: plot.Axis{Title: strings.ReplaceAll(s.varied, "-", " "), Unit: unit, Scale: scaleOf(xs)},
		Y: plot.Axis{Title: figure.title(), Unit: figure.unit},
	}
	var ys []float64
	for i, record := range records {
		y := figure.valueOf(record)
		ys = append(ys, y.At)
		at := slices.IndexFunc(picture.Series, func(series plot.Series) bool { return series.Name == record.label() })
		if at < 0 {
			at = len(picture.Series)
			picture.Series = append(picture.Series, plot.Series{Name: record.label()})
		}
		picture.Series[at].Points = append(picture.Series[at].Points, plot.Point{X: xs[i], Y: y})
	}
	if low, high := slices.Min(ys), slices.Max(ys); low > 0 && high/low > 50 {
		picture.Y.Scale = plot.Log10
	}
	for _, series := range picture.Series {
		slices.SortStableFunc(series.Points, func(a, b plot.Point) int { return int(math.Copysign(1, a.X-b.X)) })
	}
	return picture
}

// scaleOf returns a logarithmic scale if each value is at least twice the one before.
func scaleOf(xs []float64) plot.Scale {
	low, high := slices.Min(xs), slices.Max(xs)
	if low <= 0 || high/low < 4 {
		return plot.Linear
	}
	for _, x := range xs {
		if exponent := math.Log2(x); exponent != math.Trunc(exponent) {
			return plot.Log10
		}
	}
	return plot.Log2
}

// bars draws a figure for each design, or for each value of a parameter that is a word.
func (s *session) bars(records []jobResults, title string, figure plottable) plot.Bars {
	picture := plot.Bars{Title: title, Caption: s.caption(records), Axis: plot.Axis{Title: figure.title(), Unit: figure.unit}}
	for _, record := range records {
		group, series := record.value, record.label()
		if s.varied == "" {
			group, series = record.label(), record.last().Bench
		}
		at := slices.Index(picture.Series, series)
		if at < 0 {
			at = len(picture.Series)
			picture.Series = append(picture.Series, series)
		}
		row := slices.IndexFunc(picture.Groups, func(g plot.Group) bool { return g.Name == group })
		if row < 0 {
			row = len(picture.Groups)
			picture.Groups = append(picture.Groups, plot.Group{Name: group})
		}
		for len(picture.Groups[row].Values) < at {
			picture.Groups[row].Values = append(picture.Groups[row].Values, plot.Value{At: math.NaN()})
		}
		picture.Groups[row].Values = append(picture.Groups[row].Values, figure.valueOf(record))
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
	case strings.HasSuffix(s.varied, "size") && s.varied != "page-size":
		unit = bench.Bytes
	default:
		unit = bench.Count
	}
	return values, unit, true
}

// plottable is a figure that can be plotted.
type plottable struct {
	name, unit string
	of         func(*bench.Result) float64
}

// valueOf returns the median over the rounds, with a whisker from minimum to maximum.
func (f plottable) valueOf(record jobResults) plot.Value {
	median, low, high := record.spread(f.of)
	if len(record.rounds) == 1 {
		return plot.Value{At: median}
	}
	return plot.Value{At: median, Low: low, High: high}
}

func (f plottable) title() string {
	switch {
	case f.unit == bench.PerSecond:
		return f.name + " per second"
	case percentileFigures[f.name] != nil:
		return "latency, " + f.name
	default:
		return f.name
	}
}

// figureNamed returns a figure of the records; without a name the first, which is the most
// important.
func figureNamed(name string, records []jobResults) (plottable, error) {
	first := records[0].median()
	if percentile, ok := percentileFigures[name]; ok && first.Latency != nil {
		return plottable{name, bench.Nanoseconds, func(r *bench.Result) float64 {
			if r.Latency == nil {
				return math.NaN()
			}
			return float64(percentile(r.Latency))
		}}, nil
	}
	var names []string
	for _, figure := range first.Figures {
		if name == "" || strings.EqualFold(figure.Name, name) {
			return plottable{figure.Name, figure.Unit, func(r *bench.Result) float64 {
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

// percentileFigures maps the names of figures to values of a histogram.
var percentileFigures = map[string]func(*bench.Histogram) time.Duration{
	"p50":   func(h *bench.Histogram) time.Duration { return h.Quantile(0.5) },
	"p90":   func(h *bench.Histogram) time.Duration { return h.Quantile(0.9) },
	"p99":   func(h *bench.Histogram) time.Duration { return h.Quantile(0.99) },
	"p99.9": func(h *bench.Histogram) time.Duration { return h.Quantile(0.999) },
	"max":   (*bench.Histogram).Max,
}
