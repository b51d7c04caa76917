package progress

import (
	"strconv"
	"time"

	"orrery/internal/lab/bench"
)

// Describe says in one line, without codes of a terminal, how far a phase is: "saturated, 683,008 of 1,000,000 keys, 4.21 M/s".
func Describe(phase bench.Phase, now time.Time) string {
	text := phase.Name
	for _, part := range []string{countOf(phase, now), rateOf(phase, now)} {
		if part != "" {
			text += ", " + part
		}
	}
	return text
}

// Summary says the same of a phase that is over.
func Summary(phase bench.Phase, now time.Time) string {
	elapsed := duration(phase.Elapsed(now))
	text := phase.Name + ": "
	if phase.Done == 0 && phase.Total == 0 {
		return text + elapsed
	}
	if phase.Done >= phase.Total {
		text += amount(phase.Done, phase.Unit)
	} else {
		text += countOf(phase, now) // it was interrupted
	}
	text += " in " + elapsed
	if rate := rateOf(phase, now); rate != "" {
		text += ", " + rate
	}
	return text
}

func countOf(phase bench.Phase, now time.Time) string {
	switch {
	case phase.Total > 0:
		return grouped(phase.Done) + " of " + amount(phase.Total, phase.Unit)
	case phase.Done > 0:
		return amount(phase.Done, phase.Unit)
	case phase.Lasts > 0:
		return ""
	default:
		return duration(phase.Elapsed(now).Truncate(100 * time.Millisecond))
	}
}

func rateOf(phase bench.Phase, now time.Time) string {
	elapsed := phase.Elapsed(now)
	if phase.Done == 0 || elapsed <= 0 {
		return ""
	}
	return scaled(float64(phase.Done)/elapsed.Seconds()) + "/s"
}

// amount is a number with what it counts.
func amount(n int64, unit string) string {
	if unit == "" {
		return grouped(n)
	}
	return grouped(n) + " " + unit
}

// grouped writes a number with a comma after every three digits.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// scaled writes three digits of a number and a letter for its size.
func scaled(v float64) string {
	for _, size := range []struct {
		of   float64
		name string
	}{{1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if v >= size.of*0.9995 {
			return threeDigits(v/size.of) + size.name
		}
	}
	return threeDigits(v)
}

func threeDigits(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
}

// duration writes how long something took as people say it: 237 ms, 4.2 s, 3 min 12 s.
func duration(d time.Duration) string {
	switch {
	case d < time.Second-500*time.Microsecond:
		return strconv.FormatInt(d.Round(time.Millisecond).Milliseconds(), 10) + " ms"
	case d < 10*time.Second-50*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Minute-500*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 0, 64) + " s"
	default:
		seconds := int64(d.Round(time.Second).Seconds())
		return strconv.FormatInt(seconds/60, 10) + " min " + strconv.FormatInt(seconds%60, 10) + " s"
	}
}
