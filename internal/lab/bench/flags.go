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
	program.WordVar(flags, &l.Distribution, "distribution", "", "distribution", Distributions(),
		"how often each of the "+of+" is drawn (hot: one gets 90 %)")
	NumberVar(flags, &l.Duration, "duration", 2*time.Second, 1, 0, "how long each of the two phases takes")
	NumberVar(flags, &l.Rate, "rate", 0, 0, 0,
		"events a second in the second phase, which measures latency; 0: half of what the slowest design sustains")
	flags.Uint64Var(&l.Seed, "seed", 1, "seed of the random choices; the same seed makes the same choices")
}

// Number is the value of a flag: a count or a rate with an optional suffix (100k, 1M), or a
// duration (500ms).
type Number struct {
	value, least, most float64 // of a duration in nanoseconds; most 0: no limit
	isTime, isRate     bool    // or it is a count
	set                func(float64)
}

// NumberVar adds a flag for a number. most is 0 if there is no limit.
func NumberVar[N int | float64 | time.Duration](
	flags *pflag.FlagSet, n *N, name string, value, least, most N, usage string,
) {
	*n = value
	number := &Number{
		value: float64(value), least: float64(least), most: float64(most), set: func(v float64) { *n = N(v) },
	}
	_, number.isTime = any(value).(time.Duration)
	_, number.isRate = any(value).(float64)
	flags.Var(number, name, usage)
}

// mostCost is far below the time after which a workload counts an event as lost.
const mostCost = 10 * time.Second

// CostVar adds the flag for the cost of a handler.
func CostVar(flags *pflag.FlagSet, cost *time.Duration) {
	NumberVar(flags, cost, "handler-cost", 0, 0, mostCost,
		"processing time per event in each handler; busy-waits below 50us, sleeps otherwise")
}

// suffixes of numbers.
var suffixes = map[string]float64{"k": 1e3, "M": 1e6, "G": 1e9}

// Set implements [pflag.Value].
func (n *Number) Set(text string) error {
	value, err := n.parse(text)
	if err == nil {
		n.value = value
		n.set(value)
	}
	return err
}

// parse returns the number in text if it is valid for the flag.
func (n *Number) parse(text string) (value float64, err error) {
	if n.isTime {
		var d time.Duration
		if d, err = time.ParseDuration(text); err != nil {
			return 0, fmt.Errorf("%q is not a duration with its unit, such as 500ms or 5m", text)
		}
		value = float64(d)
	} else if value, err = number(text); err != nil {
		return 0, err
	}
	switch {
	case !n.isRate && value != math.Trunc(value):
		return 0, fmt.Errorf("it must be a whole number")
	case value < n.least:
		return 0, fmt.Errorf("it must be at least %s", n.format(n.least))
	case n.most > 0 && value > n.most:
		return 0, fmt.Errorf("it must be at most %s", n.format(n.most))
	}
	return value, nil
}

func number(text string) (float64, error) {
	digits, factor := strings.ReplaceAll(text, "_", ""), 1.0
	for suffix, of := range suffixes {
		if rest, ok := strings.CutSuffix(digits, suffix); ok {
			digits, factor = strings.TrimSpace(rest), of
			break
		}
	}
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, fmt.Errorf("%q is not a number, such as 1000 or 100k", text)
	}
	return value * factor, nil
}

// format returns a value of the flag as text.
func (n *Number) format(value float64) string {
	if n.isTime {
		return time.Duration(value).String()
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

func (n *Number) String() string { return n.format(n.value) }

// Type is the word for the value in help texts.
func (n *Number) Type() string {
	if n.isTime {
		return "time"
	}
	return "number"
}
