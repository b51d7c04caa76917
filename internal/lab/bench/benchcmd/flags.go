package benchcmd

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench/load"
	"orrery/internal/program"
)

// numberFlag is a number that may have a suffix: 100k, 1M; 64KiB if it is a size.
type numberFlag struct {
	value float64
	least float64
	whole bool
	size  bool
}

// The suffixes, the longer ones first where one ends in the other.
var (
	countSuffixes = []numberSuffix{{"k", 1e3}, {"M", 1e6}, {"G", 1e9}}
	sizeSuffixes  = []numberSuffix{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"kB", 1e3}, {"MB", 1e6}, {"k", 1e3}, {"M", 1e6}, {"B", 1}}
)

type numberSuffix struct {
	text   string
	factor float64
}

func (n *numberFlag) Set(text string) error {
	value, err := n.parse(text)
	if err == nil {
		n.value = value
	}
	return err
}

func (n *numberFlag) parse(text string) (float64, error) {
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
	case n.whole && value > math.MaxInt32:
		return 0, fmt.Errorf("it is too large")
	case value < n.least:
		return 0, fmt.Errorf("it must be at least %s", strconv.FormatFloat(n.least, 'f', -1, 64))
	}
	return value, nil
}

func (n *numberFlag) String() string { return strconv.FormatFloat(n.value, 'f', -1, 64) }

// Type is what help shows behind the name of the flag.
func (n *numberFlag) Type() string {
	if n.size {
		return "bytes"
	}
	return "number"
}

func (n *numberFlag) int() int { return int(n.value) }

// countVar adds a flag for a number of things.
func countVar(flags *pflag.FlagSet, n *numberFlag, name string, value, least int, usage string) {
	*n = numberFlag{value: float64(value), least: float64(least), whole: true}
	flags.Var(n, name, usage)
}

// sizeVar adds a flag for a number of bytes.
func sizeVar(flags *pflag.FlagSet, n *numberFlag, name, usage string) {
	*n = numberFlag{whole: true, size: true}
	flags.Var(n, name, usage)
}

// rateVar adds a flag for a number of things a second.
func rateVar(flags *pflag.FlagSet, n *numberFlag, name, usage string) {
	*n = numberFlag{}
	flags.Var(n, name, usage)
}

// loadFlags are the flags that most workloads share: what happens to which keys, how fast and for how long.
type loadFlags struct {
	distribution program.Choice
	duration     time.Duration
	rate         numberFlag
	seed         uint64
}

func (l *loadFlags) addTo(flags *pflag.FlagSet, duration time.Duration, of string) {
	program.ChoiceVar(flags, &l.distribution, "distribution", "", "distribution", load.Distributions(), "which "+of+" are hit how often (hot: one gets 90 %)")
	flags.DurationVar(&l.duration, "duration", duration, "how long each of the two phases takes")
	rateVar(flags, &l.rate, "rate", "events a second in the second phase, which measures latency; 0: half of what the first phase reached")
	flags.Uint64Var(&l.seed, "seed", 1, "seed of the random choices; the same seed makes the same choices")
}

func (l *loadFlags) check() error {
	switch {
	case l.duration <= 0:
		return fmt.Errorf("--duration must be positive, it is %v", l.duration)
	case l.seed == 0:
		return fmt.Errorf("--seed must not be 0")
	}
	return nil
}

func (l *loadFlags) chosen() load.Distribution { return load.Distribution(l.distribution.String()) }

// handlerCost is the flag for what a handler spends.
type handlerCost time.Duration

func (c *handlerCost) addTo(flags *pflag.FlagSet) {
	flags.DurationVar((*time.Duration)(c), "handler-cost", 0, "what each handler spends on an event: work below 50us, waiting from there on")
}

func (c handlerCost) check() error {
	if c < 0 {
		return fmt.Errorf("--handler-cost must not be negative, it is %v", time.Duration(c))
	}
	return nil
}
