package plot

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
