package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
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

// choiceFlag is one of several words, or several of them.
type choiceFlag struct {
	of     string // what the words are: "distribution"
	words  []string
	chosen []string
	many   bool // a list with commas, or all
}

func (c *choiceFlag) Set(text string) error {
	chosen := []string{text}
	if c.many {
		chosen = strings.Split(text, ",")
		if text == "all" {
			chosen = slices.Clone(c.words)
		}
	}
	for i, word := range chosen {
		// A name that is two words in a table is written with a hyphen here.
		chosen[i] = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(word)), " ", "-")
		if !slices.Contains(c.words, chosen[i]) {
			return fmt.Errorf("there is no %s %q; use %s", c.of, word, c.list())
		}
		if slices.Contains(chosen[:i], chosen[i]) {
			return fmt.Errorf("%q is there twice", chosen[i])
		}
	}
	c.chosen = chosen
	return nil
}

// list names the words as a sentence does.
func (c *choiceFlag) list() string {
	words := c.words
	if c.many {
		words = append(slices.Clone(words), "all")
	}
	if len(words) == 1 {
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func (c *choiceFlag) String() string { return strings.Join(c.chosen, ",") }

// Type is what help shows behind the name of the flag.
func (c *choiceFlag) Type() string {
	if c.many {
		return "names"
	}
	return "name"
}

// choiceVar adds a flag for one of several words; the first is the default.
func choiceVar[T ~string](flags *pflag.FlagSet, c *choiceFlag, name, shorthand, of string, words []T, usage string) {
	*c = choiceFlag{of: of, words: asStrings(words)}
	c.chosen = c.words[:1]
	flags.VarP(c, name, shorthand, usage+": "+c.list())
}

// choicesVar adds a flag for some of several words; the first is the default.
func choicesVar[T ~string](flags *pflag.FlagSet, c *choiceFlag, name, of string, words []T, usage string) {
	*c = choiceFlag{of: of, words: asStrings(words), many: true}
	c.chosen = c.words[:1]
	flags.Var(c, name, usage+": "+strings.Join(c.words, ", ")+"; several with commas, or all")
}

func asStrings[T ~string](words []T) []string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = strings.ReplaceAll(string(word), " ", "-")
	}
	return list
}

// completeChoices lets shells complete the words of all flags that have some.
func completeChoices(command *cobra.Command) {
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		choice, ok := flag.Value.(*choiceFlag)
		if !ok {
			return
		}
		words := choice.words
		if choice.many {
			words = append(slices.Clone(words), "all")
		}
		_ = command.RegisterFlagCompletionFunc(flag.Name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	})
}

// flagNames are the names of all flags so far.
func flagNames(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	return names
}
