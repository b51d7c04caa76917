package bench

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// prefix is a multiple of a unit.
type prefix struct {
	factor float64
	unit   string
}

// prefixes of each unit, the smallest first. Human uses the largest that is not above the number.
var prefixes = map[string][]prefix{
	PerSecond:   {{1, "/s"}, {1e3, " k/s"}, {1e6, " M/s"}, {1e9, " G/s"}},
	Nanoseconds: {{1, " ns"}, {1e3, " µs"}, {1e6, " ms"}, {1e9, " s"}},
	Seconds:     {{1e-9, " ns"}, {1e-6, " µs"}, {1e-3, " ms"}, {1, " s"}},
	Bytes:       {{1, " B"}, {1 << 10, " KiB"}, {1 << 20, " MiB"}, {1 << 30, " GiB"}},
	Count:       {{1, ""}, {1e3, " k"}, {1e6, " M"}, {1e9, " G"}},
}

// Human formats a number with three digits and a prefix: Human(4_200_000, PerSecond) is "4.2
// M/s". Unknown units follow the number. NaN is a dash.
func Human(value float64, unit string) string {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return "–"
	}
	known, ok := prefixes[unit]
	if !ok {
		return strings.TrimSpace(plain(threeDigits(value)) + " " + unit)
	}
	chosen := 0
	for chosen+1 < len(known) && math.Abs(threeDigits(value/known[chosen+1].factor)) >= 1 {
		chosen++
	}
	if value == 0 {
		return "0" + known[slices.IndexFunc(known, func(p prefix) bool { return p.factor == 1 })].unit
	}
	return plain(threeDigits(value/known[chosen].factor)) + known[chosen].unit
}

// threeDigits rounds to three significant digits, so 999.7 ns become 1 µs and not 1000 ns.
func threeDigits(value float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 3, 64), 64)
	if err != nil {
		return value
	}
	return rounded
}

// plain formats a number without exponent and trailing zeros.
func plain(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }
