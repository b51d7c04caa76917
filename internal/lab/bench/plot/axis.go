package plot

import (
	"math"

	"gonum.org/v1/plot"

	"orrery/internal/lab/bench/report"
)

// Axis is what numbers are measured along.
type Axis struct {
	// Title says what is measured: "time of an operation". May be empty.
	Title string
	// Unit is what Value and X are in: bench.Nanoseconds, bench.PerSecond, bench.Bytes, bench.Seconds, bench.Count, "×"
	// for ratios, or whatever else there is. Ticks are written with the prefixes of the unit (µs, M/s, MiB).
	Unit string
	// Scale is Linear, Log10 or Log2; the zero value is Linear. An axis on which a logarithm has nothing to show,
	// because no number is above zero, is linear all the same.
	Scale Scale
}

// Scale is how numbers become lengths.
type Scale string

// The scales.
const (
	Linear Scale = ""
	Log10  Scale = "log10"
	Log2   Scale = "log2"
)

// number writes a value with its unit; zero needs none.
func number(value float64, unit string) string {
	if value == 0 {
		return "0"
	}
	return report.Human(value, unit)
}

// set gives an axis of a plot its title, its ends and its ticks, so that these values are to be seen. A linear axis begins
// at zero if zero is set.
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

// ticks writes the labels of ticks with their unit.
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

// logTicks are gonum's, which labels powers of ten. Over a few decades 2 and 5 are labelled, too: there may be no power of
// ten among them.
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

// powersOfTwo are ticks at 1, 2, 4, 8.
func powersOfTwo(low, high float64) []plot.Tick {
	var list []plot.Tick
	for v := math.Exp2(math.Ceil(math.Log2(low) - 1e-9)); v <= high*(1+1e-9); v *= 2 {
		list = append(list, plot.Tick{Value: v, Label: "x"})
	}
	return list
}
