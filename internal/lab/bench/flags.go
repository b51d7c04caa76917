package bench

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/app/program"
)

// Load holds the flags that most benchmarks share: which keys change, how fast and for how long.
type Load struct {
	// Distribution says how often each key is drawn.
	Distribution Distribution
	// Duration is the duration of each of the two phases.
	Duration time.Duration
	// Rate is the number of events a second in the second phase; 0: there is none.
	Rate float64
	// Seed is the seed of the random choices.
	Seed uint64
}

// AddTo adds a flag for each field. of names the keys in help texts: "objects".
func (l *Load) AddTo(flags *pflag.FlagSet, of string) {
	program.WordVar(flags, &l.Distribution, "distribution", "", "distribution", Distributions(), "how often each of the "+of+" is drawn (hot: one gets 90 %)")
	DurationVar(flags, &l.Duration, "duration", 2*time.Second, 1, 0, "how long each of the two phases takes")
	flags.Var(&Number{set: func(v float64) { l.Rate = v }}, "rate",
		"events a second in the second phase, which measures latency; 0: half of what the slowest design sustains")
	flags.Uint64Var(&l.Seed, "seed", 1, "seed of the random choices; the same seed makes the same choices")
}

// Number is the value of a flag with an optional suffix: 100k, 1M; 64KiB for a size.
type Number struct {
	value       float64
	least, most float64 // most 0: no limit
	whole, size bool
	set         func(float64)
}

// The suffixes, the longer ones first where one ends in another.
var (
	countSuffixes = []suffix{{"k", 1e3}, {"M", 1e6}, {"G", 1e9}}
	sizeSuffixes  = []suffix{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"kB", 1e3}, {"MB", 1e6}, {"k", 1e3}, {"M", 1e6}, {"B", 1}}
)

type suffix struct {
	text   string
	factor float64
}

// Set implements [pflag.Value].
func (n *Number) Set(text string) error {
	value, err := n.Parse(text)
	if err == nil {
		n.value = value
		n.set(value)
	}
	return err
}

// Parse returns the number in text if it is valid for the flag.
func (n *Number) Parse(text string) (float64, error) {
	digits, factor := strings.ReplaceAll(text, "_", ""), 1.0
	suffixes := countSuffixes
	if n.size {
		suffixes = sizeSuffixes
	}
	for _, suffix := range suffixes {
		if rest, ok := strings.CutSuffix(digits, suffix.text); ok {
			digits, factor = strings.TrimSpace(rest), suffix.factor
			break
		}
	}
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, fmt.Errorf("%q is not a number, such as 1000 or %s", text, map[bool]string{false: "100k", true: "64KiB"}[n.size])
	}
	value *= factor
	switch {
	case n.whole && value != math.Trunc(value):
		return 0, fmt.Errorf("it must be a whole number")
	case value < n.least:
		return 0, fmt.Errorf("it must be at least %s", plain(n.least))
	case n.most > 0 && value > n.most:
		return 0, fmt.Errorf("it must be at most %s", plain(n.most))
	}
	return value, nil
}

func plain(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

func (n *Number) String() string { return plain(n.value) }

// Type is the word for the value in help texts.
func (n *Number) Type() string {
	if n.size {
		return "bytes"
	}
	return "number"
}

// CountVar adds a flag for a count.
func CountVar(flags *pflag.FlagSet, n *int, name string, value, least, most int, usage string) {
	*n = value
	flags.Var(&Number{value: float64(value), least: float64(least), most: float64(most), whole: true, set: func(v float64) { *n = int(v) }}, name, usage)
}

// mostBytes is the largest object size.
const mostBytes = 1 << 20

// SizeVar adds a flag for a number of bytes.
func SizeVar(flags *pflag.FlagSet, n *int, name, usage string) {
	flags.Var(&Number{whole: true, size: true, most: mostBytes, set: func(v float64) { *n = int(v) }}, name, usage)
}

// Duration is the value of a flag for a duration.
type Duration struct {
	value       *time.Duration
	least, most time.Duration // most 0: no limit
}

// DurationVar adds a flag for a duration.
func DurationVar(flags *pflag.FlagSet, d *time.Duration, name string, value, least, most time.Duration, usage string) {
	*d = value
	flags.Var(&Duration{d, least, most}, name, usage)
}

// Set implements [pflag.Value].
func (d *Duration) Set(text string) error {
	value, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a duration with its unit, such as 500ms or 5m", text)
	case value < d.least:
		return fmt.Errorf("it must be at least %v", d.least)
	case d.most > 0 && value > d.most:
		return fmt.Errorf("it must be at most %v", d.most)
	}
	*d.value = value
	return nil
}

func (d *Duration) String() string {
	if d.value == nil { // pflag calls String on a zero value
		return ""
	}
	return d.value.String()
}

// Type is the word for the value in help texts.
func (*Duration) Type() string { return "time" }

// mostCost is far below the time after which a workload counts an event as lost.
const mostCost = 10 * time.Second

// CostVar adds the flag for the cost of a handler.
func CostVar(flags *pflag.FlagSet, cost *time.Duration) {
	DurationVar(flags, cost, "handler-cost", 0, 0, mostCost, "processing time per event in each handler; busy-waits below 50us, sleeps otherwise")
}
