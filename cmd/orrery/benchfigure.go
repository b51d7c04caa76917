package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/histogram"
	"orrery/internal/lab/bench/plot"
)

// benchFigure is a figure that can be plotted.
type benchFigure struct {
	name, unit string
	of         func(*bench.Result) float64
}

// valueOf is the median over the rounds, with a whisker from the least to the greatest.
func (f benchFigure) valueOf(record benchRecord) plot.Value {
	median, low, high := record.spread(f.of)
	if len(record.rounds) == 1 {
		return plot.Value{At: median}
	}
	return plot.Value{At: median, Low: low, High: high}
}

func (f benchFigure) title() string {
	switch {
	case f.unit == bench.PerSecond:
		return f.name + " per second"
	case benchPercentiles[f.name] != nil:
		return "latency, " + f.name
	default:
		return f.name
	}
}

// figureNamed finds a figure of the records; without a name it is the first, which is the most important.
func figureNamed(name string, records []benchRecord) (benchFigure, error) {
	first := records[0].median()
	if percentile, ok := benchPercentiles[name]; ok && first.Latency != nil {
		return benchFigure{name, bench.Nanoseconds, func(r *bench.Result) float64 {
			if r.Latency == nil {
				return math.NaN()
			}
			return float64(percentile(r.Latency))
		}}, nil
	}
	var names []string
	for _, figure := range first.Figures {
		if name == "" || strings.EqualFold(figure.Name, name) {
			return benchFigure{figure.Name, figure.Unit, func(r *bench.Result) float64 {
				if found, ok := r.Figure(figure.Name); ok {
					return found.Value
				}
				return math.NaN()
			}}, nil
		}
		names = append(names, strconv.Quote(figure.Name))
	}
	return benchFigure{}, fmt.Errorf("there is no figure %q to plot; use one of %s, or a percentile", name, strings.Join(names, ", "))
}

// benchPercentiles are the names of figures that are taken out of a histogram.
var benchPercentiles = map[string]func(*histogram.Histogram) time.Duration{
	"p50":   func(h *histogram.Histogram) time.Duration { return h.Quantile(0.5) },
	"p90":   func(h *histogram.Histogram) time.Duration { return h.Quantile(0.9) },
	"p99":   func(h *histogram.Histogram) time.Duration { return h.Quantile(0.99) },
	"p99.9": func(h *histogram.Histogram) time.Duration { return h.Quantile(0.999) },
	"max":   (*histogram.Histogram).Max,
}
