package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Choice is the value of a flag that takes one of several words, or a list of them.
type Choice struct {
	Chosen []string // by the user, or by default

	of    string // what a word is: "distribution"
	words []string
	many  bool // the flag takes a list with commas, or "all"
	chose func(word string)
}

// WordVar adds a flag for one of several words; the first is the default.
func WordVar[T ~string](flags *pflag.FlagSet, chosen *T, name, shorthand, of string, words []T, usage string) {
	*chosen = words[0]
	c := &Choice{of: of, chose: func(word string) { *chosen = T(word) }}
	for _, word := range words {
		c.words = append(c.words, string(word))
	}
	c.Chosen = c.words[:1]
	flags.VarP(c, name, shorthand, usage+": "+c.list())
}

// ChoicesVar adds a flag for some of several words; the first is the default.
func ChoicesVar(flags *pflag.FlagSet, c *Choice, name, of string, words []string, usage string) {
	*c = Choice{Chosen: words[:1], of: of, words: words, many: true}
	flags.Var(c, name, usage+": "+strings.Join(words, ", ")+"; several with commas, or all")
}

// Set implements [pflag.Value].
func (c *Choice) Set(text string) error {
	chosen := []string{text}
	if c.many {
		chosen = strings.Split(text, ",")
		if text == "all" {
			chosen = slices.Clone(c.words)
		}
	}
	for i, word := range chosen {
		chosen[i] = strings.ToLower(strings.TrimSpace(word))
		if !slices.Contains(c.words, chosen[i]) {
			return fmt.Errorf("there is no %s %q; use %s", c.of, word, c.list())
		}
		if slices.Contains(chosen[:i], chosen[i]) {
			return fmt.Errorf("%q is given twice", chosen[i])
		}
	}
	if c.Chosen = chosen; c.chose != nil {
		c.chose(chosen[0])
	}
	return nil
}

func (c *Choice) String() string { return strings.Join(c.Chosen, ",") }

// Type returns the name of the flag's value in the help.
func (c *Choice) Type() string {
	if c.many {
		return "names"
	}
	return "name"
}

// Many reports whether the flag takes a list.
func (c *Choice) Many() bool { return c.many }

// offers returns the accepted words.
func (c *Choice) offers() []string {
	if c.many {
		return append(slices.Clone(c.words), "all")
	}
	return c.words
}

// next returns the words that may follow the given ones in a list.
func (c *Choice) next(before []string) []string {
	if len(before) == 0 {
		return c.offers()
	}
	return slices.DeleteFunc(slices.Clone(c.words), func(word string) bool { return slices.Contains(before, word) })
}

// list returns the words for a sentence.
func (c *Choice) list() string {
	words := c.offers()
	if len(words) == 1 {
		return words[0]
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// CompleteChoices adds shell completion to all flags that have a Choice.
func CompleteChoices(command *cobra.Command) {
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		choice, ok := flag.Value.(*Choice)
		switch {
		case ok && choice.many:
			completeList(command, flag.Name, choice.next)
		case ok:
			Complete(command, flag.Name, choice.words...)
		}
	})
}

// Complete adds shell completion of these words to a flag. Text after a tab is the description of a
// word.
func Complete(command *cobra.Command, flag string, words ...string) {
	cobra.CheckErr(command.RegisterFlagCompletionFunc(flag,
		cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
}

// completeList adds shell completion of the last entry to a flag that takes a list with commas.
// next returns what may follow the previous entries, in the form of [Complete]. No space is added,
// because a comma may follow.
func completeList(command *cobra.Command, flag string, next func(before []string) []string) {
	complete := func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		done := typed[:strings.LastIndex(typed, ",")+1]
		var before []string
		if done != "" {
			before = strings.Split(strings.TrimSuffix(done, ","), ",")
		}
		var lists []string
		for _, word := range next(before) {
			if list := done + word; strings.HasPrefix(list, typed) {
				lists = append(lists, list)
			}
		}
		return lists, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	cobra.CheckErr(command.RegisterFlagCompletionFunc(flag, complete))
}

// CompleteFiles adds completion of file names to these flags. The others complete no file names.
func CompleteFiles(command *cobra.Command, flags ...string) {
	for _, flag := range flags {
		cobra.CheckErr(command.RegisterFlagCompletionFunc(flag,
			cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)))
	}
}
