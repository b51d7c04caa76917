package main

import (
	"fmt"
	"math"
	"strconv"

	"orrery/internal/lab/bench"
)

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
