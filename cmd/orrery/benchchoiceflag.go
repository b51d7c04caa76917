package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
