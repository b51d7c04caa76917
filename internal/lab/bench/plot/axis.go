package plot

import (
	"math"

	"gonum.org/v1/plot"

	"orrery/internal/lab/bench/report"
)

// Axis is an axis of a plot.
type Axis struct {
	// Title is the measured quantity: "time of an operation". It may be empty.
	Title string
	// Unit is the unit of the values: bench.Nanoseconds, bench.PerSecond, bench.Bytes,
	// bench.Seconds, bench.Count, "×" for ratios, or any other. Tick labels use its prefixes (µs,
	// M/s, MiB).
	Unit string
	// Scale is Linear, Log10 or Log2; the zero value is Linear. A logarithmic axis without positive
	// values becomes linear.
	Scale Scale
}

// Scale maps numbers to lengths.
type Scale string

// The scales.
const (
	Linear Scale = ""
	Log10  Scale = "log10"
	Log2   Scale = "log2"
)

// number returns a value with its unit; zero has none.
func number(value float64, unit string) string {
	if value == 0 {
		return "0"
	}
	return report.Human(value, unit)
}

// set sets title, range and ticks of an axis to show the values. If zero is set, a linear axis
// begins at zero.
func (a Axis) set(axis *plot.Axis, values []float64, zero bool) {
	axis.Label.Text = a.Title
	low, high, positive, _ := extent(values)
	switch {
	case a.Scale == Linear || math.IsInf(positive, 1):
		if zero {
			low, high = min(low, 0), max(high, 0)
		}
		if low == high {
			low, high = low-math.Abs(low)/2, high+max(math.Abs(high)/2, 1)
		}
		axis.Tick.Marker = ticks{plot.DefaultTicks{}, a.Unit}
	default:
		if low = positive; high < low*1.5 {
			low, high = low/1.5, high*1.5
		}
		axis.Scale = plot.LogScale{}
		axis.Tick.Marker = ticks{logTicks{}, a.Unit}
		if a.Scale == Log2 {
			axis.Tick.Marker = ticks{plot.TickerFunc(powersOfTwo), a.Unit}
		}
	}
	axis.Min, axis.Max = low, high
}

// ticks adds the unit to tick labels.
type ticks struct {
	plot.Ticker
	unit string
}

func (t ticks) Ticks(low, high float64) []plot.Tick {
	list := t.Ticker.Ticks(low, high)
	for i := range list {
		if list[i].Label != "" {
			list[i].Label = number(list[i].Value, t.unit)
		}
	}
	return list
}

// logTicks labels powers of ten, as gonum does, and 2 and 5 over a few decades, where there may be
// no power of ten.
type logTicks struct{}

func (logTicks) Ticks(low, high float64) []plot.Tick {
	list := plot.LogTicks{Prec: -1}.Ticks(low, high)
	for i, tick := range list {
		digit := tick.Value / math.Pow(10, math.Floor(math.Log10(tick.Value)+1e-9))
		if high < 1e3*low && (math.Abs(digit-2) < 1e-6 || math.Abs(digit-5) < 1e-6) {
			list[i].Label = "x"
		}
		if tick.Value < low*(1-1e-9) || tick.Value > high*(1+1e-9) {
			list[i].Label = ""
		}
	}
	return list
}

// powersOfTwo returns ticks at 1, 2, 4, 8.
func powersOfTwo(low, high float64) []plot.Tick {
	var list []plot.Tick
	for v := math.Exp2(math.Ceil(math.Log2(low) - 1e-9)); v <= high*(1+1e-9); v *= 2 {
		list = append(list, plot.Tick{Value: v, Label: "x"})
	}
	return list
}
