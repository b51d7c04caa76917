package main

import (
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Commands are listed in the order in which somebody who is new here needs them.
func init() { cobra.EnableCommandSorting = false }

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "orrery",
		Short: "Kubernetes controllers on a runtime built by hand",
		Long: `Orrery is the Kubernetes controller runtime rebuilt by hand in Go: a reflector that
lists and watches over raw HTTP, a DeltaFIFO, an indexer, a shared processor, a work
queue and a worker pool, and on top of them the namespace controller that really
deletes namespaces on a real cluster.`,
		Example: `  # watch a namespace being deleted, gear by gear, without any cluster
  orrery demo

  # delete namespaces on the cluster that kubectl talks to
  orrery run

  # see what it would do, without writing anything
  orrery run --dry-run

  # an API server of your own, without a cluster
  orrery serve

  # how fast is the work queue, and how long does a key wait in it?
  orrery bench queue`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
		// Errors are printed once, by main, as one sentence.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SuggestionsMinimumDistance = suggestionDistance
	root.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		return usageError{command: command.CommandPath(), err: withSuggestion(command, err)}
	})
	root.AddCommand(newDemoCommand(), newRunCommand(), newServeCommand(), newBenchCommand(), newRBACCommand(),
		newCompletionCommand(), newVersionCommand())
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpFunc(printHelp)
	for command := range allCommands(root) {
		completeRest(command)
	}
	return root
}

// allCommands are a command and those below it.
func allCommands(command *cobra.Command) iter.Seq[*cobra.Command] {
	return func(yield func(*cobra.Command) bool) {
		if !yield(command) {
			return
		}
		for _, sub := range command.Commands() {
			for each := range allCommands(sub) {
				if !yield(each) {
					return
				}
			}
		}
	}
}

// withSuggestion adds to the error about an unknown flag which one may have been meant.
func withSuggestion(command *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || len(unknown.GetSpecifiedName()) < 2 {
		return err
	}
	best, least := "", suggestionDistance+1
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		if distance := editDistance(unknown.GetSpecifiedName(), flag.Name); distance < least {
			best, least = flag.Name, distance
		}
	})
	if best == "" {
		return err
	}
	return fmt.Errorf("%w; did you mean --%s?", err, best)
}

// suggestionDistance is how many characters may differ between what was typed and what was meant.
const suggestionDistance = 2

// editDistance is how many characters have to be added, left out or replaced to make one word of the other (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// noArguments refuses words that are not flags, and says so in a way that helps with a misspelt command.
func noArguments(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if command.HasSubCommands() {
		err := fmt.Errorf("there is no command %q", args[0])
		if near := command.SuggestionsFor(args[0]); len(near) > 0 {
			err = fmt.Errorf("%w; did you mean %q?", err, near[0])
		}
		return usageError{command: command.CommandPath(), err: err}
	}
	return usageError{command: command.CommandPath(), err: fmt.Errorf("unexpected argument %q", args[0])}
}

// usageError is a mistake on the command line.
type usageError struct {
	command string
	err     error
}

func (e usageError) Error() string {
	return fmt.Sprintf("%v (see %q)", e.err, e.command+" --help")
}

func (e usageError) Unwrap() error { return e.err }
