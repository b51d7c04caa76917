package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orrery/restclient"
)

// ExitInterrupted is the exit code after Ctrl-C ended something before it was done: 128 and the signal's number, as in shells.
const ExitInterrupted = 130

// ErrInterrupted is wrapped by errors that mean: Ctrl-C ended this before it was done.
var ErrInterrupted = errors.New("interrupted")

// Main runs the program and exits. explain turns an error into the sentence that the program ends with.
func Main(root *cobra.Command, explain func(error) string) {
	os.Exit(Run(root, os.Args[1:], os.Stdout, os.Stderr, explain))
}

// Run is Main for tests: it returns the exit code.
func Run(root *cobra.Command, args []string, stdout, stderr io.Writer, explain func(error) string) int {
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	Prepare(root)
	err := root.ExecuteContext(context.Background())
	if err == nil {
		return 0
	}
	LastWord(stderr, root.Name(), explain(err))
	if errors.Is(err, ErrInterrupted) {
		return ExitInterrupted
	}
	return 1
}

// lastWordLimit is how long a program that ends waits for its last line to be written.
const lastWordLimit = time.Second

// LastWord writes the line that the program ends with, without secrets. A pipe that nobody reads does not keep it from ending.
func LastWord(stderr io.Writer, name, sentence string) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		fmt.Fprintln(stderr, name+": "+restclient.Redact(sentence))
	}()
	select {
	case <-written:
	case <-time.After(lastWordLimit):
	}
}

// helpWidth is how many columns the help of flags takes. It fits a terminal of 80 columns, and is so narrow that pflag puts
// the explanation of a flag on its own line where a command has flags with long names.
const helpWidth = 72

// Prepare makes a tree of commands ready to be executed. The root's output must have been set.
func Prepare(root *cobra.Command) {
	cobra.EnableCommandSorting = false // the most important command comes first
	root.Version = CurrentVersion().String()
	root.SilenceErrors, root.SilenceUsage = true, true // Run prints one sentence
	root.SuggestionsMinimumDistance = 2                // cobra sets its default too late for SuggestionsFor
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.SetUsageFunc(wrapFlags(root.UsageFunc()))
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return UsageError{Command: command.CommandPath(), Err: FlagError(err)}
	})
	root.InitDefaultCompletionCmd()
	completeListsInBash(root)
	root.InitDefaultHelpCmd()
	prepareGroups(root)
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Args = func(_ *cobra.Command, words []string) error {
			command, rest, err := root.Find(words)
			if err != nil {
				return err
			}
			return NoArguments(command, rest)
		}
	}
}

// expected says what the flags of each type take, by the name of the type.
var expected = map[string]string{
	"bool":        "true or false",
	"int":         "a whole number",
	"uint64":      "a whole number that is not negative",
	"float32":     "a number",
	"float64":     "a number",
	"duration":    "a duration with its unit, such as 500ms, 90s or 5m",
	"stringSlice": "a list with commas",
}

// FlagError returns an error that says what a flag takes where pflag only says which parser refused its value.
func FlagError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	flag := invalid.GetFlag()
	want, ok := expected[flag.Value.Type()]
	if !ok {
		return err // the flag's own type says what is wrong
	}
	if errors.Is(err, strconv.ErrRange) {
		want += " within its range"
	}
	dashes := "--"
	if len(flag.Name) == 1 {
		dashes = "-"
	}
	return fmt.Errorf("%s%s takes %s, not %q", dashes, flag.Name, want, invalid.GetValue())
}

// wrapFlags has cobra's usage wrap the lines about flags. Not by a template of our own: with text/template, which calls methods
// by names that the linker cannot know, the program is 3.4 MB larger (a fifth).
func wrapFlags(usage func(*cobra.Command) error) func(*cobra.Command) error {
	return func(command *cobra.Command) error {
		out := command.OutOrStdout()
		var text strings.Builder
		command.SetOut(&text)
		err := usage(command)
		command.SetOut(out)
		flags := command.LocalFlags()
		wrapped := strings.TrimRight(flags.FlagUsagesWrapped(helpWidth), "\n")
		fmt.Fprint(out, strings.Replace(text.String(), strings.TrimRight(flags.FlagUsages(), "\n"), wrapped, 1))
		return err
	}
}

// prepareGroups has each command that only groups others show its help, and refuse words that name none of them.
func prepareGroups(command *cobra.Command) {
	command.Flags().SortFlags = false
	if command.HasSubCommands() && !command.Runnable() {
		command.SuggestionsMinimumDistance = command.Root().SuggestionsMinimumDistance
		command.Args = NoArguments
		command.RunE = func(command *cobra.Command, _ []string) error { return command.Help() }
	}
	for _, sub := range command.Commands() {
		prepareGroups(sub)
	}
}

// NoArguments refuses words that are not flags. For a misspelt command it names the ones that are near.
func NoArguments(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unexpected argument %q", args[0])
	if command.HasAvailableSubCommands() {
		err = fmt.Errorf("unknown command %q", args[0])
		if near := command.SuggestionsFor(args[0]); len(near) > 0 {
			err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
		}
	}
	return UsageError{Command: command.CommandPath(), Err: err}
}

// UsageError is a mistake on the command line.
type UsageError struct {
	Command string // the whole path: "lab bench queue"
	Err     error
}

func (e UsageError) Error() string { return fmt.Sprintf("%v (see %q)", e.Err, e.Command+" --help") }

func (e UsageError) Unwrap() error { return e.Err }
