package plot

import (
	"math"
	"slices"

	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/report"
)

// ruler turns the numbers of an axis into pixels. Its ends are round numbers.
type ruler struct {
	scale     Scale
	low, high float64 // the ends
	from, to  float64 // where they are, in pixels
	ticks     []float64
	minor     []float64 // grid lines without a label
	labels    []string  // of the ticks; empty where there is no room
}

// newRuler makes a ruler for an axis on which these values are to be seen, with about so many ticks.
func newRuler(axis Axis, values []float64, zero bool, count int) ruler {
	low, high, positive := extent(values)
	scale := axis.Scale
	if math.IsInf(positive, 1) {
		scale = Linear
	}
	var r ruler
	switch scale {
	case Log10:
		r = decades(positive, high)
	case Log2:
		r = powersOfTwo(positive, high)
	default:
		if zero {
			low, high = min(low, 0), max(high, 0)
		}
		r = steps(low, high, count, axis.Unit, values)
	}
	r.labels = make([]string, len(r.ticks))
	for i, tick := range r.ticks {
		r.labels[i] = number(tick, axis.Unit)
	}
	return r
}

// number writes a value with its unit; zero needs none.
func number(value float64, unit string) string {
	if value == 0 {
		return "0"
	}
	return report.Human(value, unit)
}

// extent returns the ends of some values, and the least that is above zero (infinite if none is).
func extent(values []float64) (low, high, positive float64) {
	low, high, positive = math.Inf(1), math.Inf(-1), math.Inf(1)
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		low, high = min(low, v), max(high, v)
		if v > 0 {
			positive = min(positive, v)
		}
	}
	if low > high {
		return 0, 1, positive
	}
	return low, high, positive
}

// steps is a linear ruler. Steps are 1, 2 or 5 times a power of ten; for bytes, of the prefixes KiB, MiB and so on. Where
// all values are whole things, nothing stands between one and the next.
func steps(low, high float64, count int, unit string, values []float64) ruler {
	if size := max(math.Abs(low), math.Abs(high)); high-low <= size*1e-6 { // no room for steps between them
		low, high = low-math.Abs(low)/2, high+math.Abs(high)/2
		if low == high {
			low, high = 0, 1
		}
	}
	rough := (high - low) / float64(count)
	factor := 1.0
	for unit == bench.Bytes && rough/factor >= 1024 {
		factor *= 1024
	}
	step := round125(rough/factor) * factor
	if unit == bench.Bytes || unit == bench.Count && whole(values) {
		step = max(step, 1)
	}
	first, last := math.Floor(low/step+1e-9), math.Ceil(high/step-1e-9)
	last = max(last, first+1) // both ends on the same tick
	r := ruler{scale: Linear, low: first * step, high: last * step}
	for i := first; i <= last; i++ {
		r.ticks = append(r.ticks, i*step)
	}
	return r
}

func whole(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != math.Trunc(v) })
}

// round125 returns the least number of the form 1, 2 or 5 times a power of ten that is not below v.
func round125(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, digit := range []float64{1, 2, 5} {
		if v <= digit*power*(1+1e-9) {
			return digit * power
		}
	}
	return 10 * power
}

// decades is a logarithmic ruler. Over a few decades it has ticks at 1, 2 and 5, over many at powers of ten. Its ends are
// at 1, 2 or 5 in any case: a whole decade is too much to be left empty.
func decades(low, high float64) ruler {
	if high < low*1.5 {
		low, high = low/1.5, high*1.5
	}
	first, last := int(math.Floor(math.Log10(low)+1e-9)), int(math.Ceil(math.Log10(high)-1e-9))
	r := ruler{scale: Log10, low: math.Pow10(first), high: math.Pow10(last)}
	few := last-first <= 3
	r.low, r.high = r.ends125(low, high)
	for exponent := first; exponent <= last; exponent++ {
		for digit := 1.0; digit < 10; digit++ {
			v := digit * math.Pow10(exponent)
			switch {
			case v < r.low*(1-1e-9) || v > r.high*(1+1e-9):
			case digit == 1 || few && (digit == 2 || digit == 5):
				r.ticks = append(r.ticks, v)
			default:
				r.minor = append(r.minor, v)
			}
		}
	}
	return r
}

// ends125 moves the ends of a logarithmic ruler inwards, to the numbers 1, 2 or 5 times a power of ten around the values.
func (r ruler) ends125(low, high float64) (float64, float64) {
	bottom, top := r.low, r.high
	for v := r.low; v <= r.high*(1+1e-9); {
		if v <= low*(1+1e-9) {
			bottom = v
		}
		if v >= high*(1-1e-9) {
			top = v
			break
		}
		v = round125(v * 1.1)
	}
	return bottom, top
}

// powersOfTwo is a logarithmic ruler with ticks at 1, 2, 4, 8.
func powersOfTwo(low, high float64) ruler {
	first, last := math.Floor(math.Log2(low)+1e-9), math.Ceil(math.Log2(high)-1e-9)
	if first == last {
		first, last = first-1, last+1
	}
	r := ruler{scale: Log2, low: math.Exp2(first), high: math.Exp2(last)}
	for exponent := first; exponent <= last; exponent++ {
		r.ticks = append(r.ticks, math.Exp2(exponent))
	}
	return r
}

// at returns where a value is, in pixels; what is beyond the ends is at the end.
func (r ruler) at(v float64) float64 {
	part := 0.0
	if r.scale == Linear {
		part = (v - r.low) / (r.high - r.low)
	} else if v > 0 {
		part = math.Log(v/r.low) / math.Log(r.high/r.low)
	}
	return r.from + min(max(part, 0), 1)*(r.to-r.from)
}

// thin removes labels of a horizontal ruler until none touches the next: every second, every third and so on stays.
func (r *ruler) thin(size float64) {
	for stride := 1; stride <= len(r.ticks); stride++ {
		free := math.Inf(-1)
		fits := true
		for i := 0; i < len(r.ticks) && fits; i += stride {
			half := textWidth(r.labels[i], size, false) / 2
			x := r.at(r.ticks[i])
			fits = x-half >= free
			free = x + half + 8
		}
		if !fits {
			continue
		}
		for i := range r.labels {
			if i%stride != 0 {
				r.labels[i] = ""
			}
		}
		return
	}
}
