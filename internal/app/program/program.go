// Package program has the start and the end of the two programs: cobra commands, exit codes and
// signals. [Main] runs a tree of cobra commands. Prepare makes command groups and "help" refuse
// unknown words, and makes each mistake on the command line one sentence with the help to read
// ([UsageError]). The exit code is 0 on success, 1 on failure (including output that cannot be
// written), and 130 after Ctrl-C. A mistake on the command line is a failure unless [SetUsageCode]
// gives it another code; a command may have others ([Exit]). A failure ends with one line on
// standard error, without secrets.
package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orrery/restclient"
)

// ExitInterrupted is the exit code of every command that Ctrl-C has ended: 128 and the number of
// the signal, as in shells.
const ExitInterrupted = 130

// ErrInterrupted is wrapped by the error of a command that Ctrl-C ended early. Its text is printed.
var ErrInterrupted = errors.New("interrupted")

// Exit is the error of a command that has already printed everything: the program only exits with
// this code.
type Exit int

func (e Exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// CodedError is an error with an exit code of its own. Its text is printed.
type CodedError struct {
	Err  error
	Code int
}

func (e CodedError) Error() string { return e.Err.Error() }

func (e CodedError) Unwrap() error { return e.Err }

// Main runs the program and exits. explain returns the last sentence for an error.
func Main(root *cobra.Command, explain func(error) string) {
	os.Exit(Run(root, os.Args[1:], os.Stdout, os.Stderr, explain))
}

// Run is Main for tests: it returns the exit code. Output that cannot be written is a failure; a
// closed pipe is not.
func Run(root *cobra.Command, args []string, stdout, stderr io.Writer, explain func(error) string) int {
	out := NewOutput(stdout, func() {})
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	Prepare(root)
	called, err := root.ExecuteContextC(context.Background())
	if failed := out.Err(); failed != nil && (err == nil || errors.Is(err, failed)) &&
		!errors.Is(failed, syscall.EPIPE) {
		err = fmt.Errorf("the output cannot be written: %w", failed)
	}
	if err == nil {
		return 0
	}
	if exit, ok := errors.AsType[Exit](err); ok {
		return int(exit)
	}
	fmt.Fprintln(stderr, root.DisplayName()+": "+restclient.Redact(explain(err)))
	if errors.Is(err, ErrInterrupted) {
		return ExitInterrupted
	}
	if coded, ok := errors.AsType[CodedError](err); ok {
		return coded.Code
	}
	if _, wrong := errors.AsType[UsageError](err); wrong {
		code, _ := strconv.Atoi(cmp.Or(called.Annotations[usageCode], root.Annotations[usageCode], "1"))
		return code
	}
	return 1
}

// usageCode is the annotation of a command with the exit code of a [UsageError].
const usageCode = "usage-code"

// SetUsageCode makes a command, or with a root all its commands, end with this exit code in place
// of 1 after a mistake on the command line.
func SetUsageCode(command *cobra.Command, code int) {
	command.Annotations = map[string]string{usageCode: strconv.Itoa(code)}
}

// Prepare makes a tree of commands ready to run. The root's output must have been set.
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
	root.InitDefaultHelpCmd()
	prepareGroups(root)
	if help, _, err := root.Find([]string{"help"}); err == nil && help != root {
		help.Args = func(_ *cobra.Command, words []string) error {
			command, rest, err := root.Find(words)
			if err != nil {
				return err
			}
			return NoArguments(command, rest)
		}
	}
}

// expected describes the values of each flag type.
var expected = map[string]string{
	"bool":        "true or false",
	"int":         "a whole number",
	"uint64":      "a whole number that is not negative",
	"float32":     "a number",
	"float64":     "a number",
	"duration":    "a duration with its unit, such as 500ms, 90s or 5m",
	"stringSlice": "a list with commas",
}

// FlagError returns an error that describes the expected value; pflag only names the parser that
// failed.
func FlagError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	flag := invalid.GetFlag()
	want, ok := expected[flag.Value.Type()]
	if !ok {
		return err // the flag's own type explains it
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

// prepareGroups makes command groups show their help and refuse unknown words.
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

// NoArguments refuses arguments. For a misspelt command it suggests similar ones.
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

// AtMostOneArgument refuses a second argument.
func AtMostOneArgument(command *cobra.Command, args []string) error {
	return NoArguments(command, args[min(1, len(args)):])
}

// UsageError is a mistake on the command line.
type UsageError struct {
	Command string // the full path: "lab bench queue"
	Err     error
}

func (e UsageError) Error() string { return fmt.Sprintf("%v (see %q)", e.Err, e.Command+" --help") }

func (e UsageError) Unwrap() error { return e.Err }
