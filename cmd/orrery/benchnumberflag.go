package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
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
