package program_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program"
	"orrery/internal/app/program/programtest"
)

// newRoot returns a program with one command that has all kinds of flags, and one that groups
// others.
func newRoot() *cobra.Command {
	root := &cobra.Command{Use: "program", Short: "A program", Long: "A program for tests."}
	var fail, interrupt bool
	run := &cobra.Command{Use: "run", Short: "Run", Long: "Runs.", Args: program.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			switch {
			case fail:
				return fmt.Errorf("it failed with Bearer canary-0123456789")
			case interrupt:
				return fmt.Errorf("it was early: %w", program.ErrInterrupted)
			}
			return nil
		}}
	run.Flags().BoolVar(&fail, "fail", false, "fail")
	run.Flags().BoolVar(&interrupt, "interrupt", false, "be interrupted")
	var kind string
	program.WordVar(run.Flags(), &kind, "kind", "k", "kind", []string{"one", "other"}, "the kind")
	var kinds program.Choice
	program.ChoicesVar(run.Flags(), &kinds, "kinds", "kind", []string{"one", "other"}, "the kinds")
	run.Flags().String("file", "", "a `file`")
	run.Flags().Int("number", 0, "a number")
	run.Flags().IntP("v", "v", 0, "a level")
	run.Flags().Float32("rate", 0, "a rate")
	run.Flags().Duration("wait", 0, "a time to wait")
	run.Flags().StringSlice("names", nil, "names")
	program.CompleteChoices(run)
	program.CompleteFiles(run, "file")
	group := &cobra.Command{Use: "group", Short: "Group", Long: "Groups others."}
	group.AddCommand(&cobra.Command{Use: "member", Short: "Member", Args: program.NoArguments, RunE: run.RunE})
	root.AddCommand(run, group, program.NewVersionCommand(root.Name()))
	return root
}

func TestUnknownCommandsGetOneSentence(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"rn", `unknown command "rn"; did you mean run? (see "program --help")`},
		{"nosuch", `unknown command "nosuch" (see "program --help")`},
		{"help help-me", `unknown command "help-me" (see "program --help")`},
		{"help grup", `unknown command "grup"; did you mean run or group? (see "program --help")`},
		{"group membr", `unknown command "membr"; did you mean member? (see "program group --help")`},
		{"help group mem", `unknown command "mem"; did you mean member? (see "program group --help")`},
		{"run now", `unexpected argument "now" (see "program run --help")`},
		{"help run more", `unexpected argument "more" (see "program run --help")`},
		{"completion ksh",
			`unknown command "ksh"; did you mean bash or zsh or fish? (see "program completion --help")`},
		{"run --falil", `unknown flag: --falil (see "program run --help")`},
		{"run -x", `unknown shorthand flag: 'x' in -x (see "program run --help")`},
		{"run --fail=perhaps", `--fail takes true or false, not "perhaps" (see "program run --help")`},
		{"run --number ten", `--number takes a whole number, not "ten"`},
		{"run --number 99999999999999999999",
			`--number takes a whole number within its range, not "99999999999999999999"`},
		{"run -v high", `-v takes a whole number, not "high"`},
		{"run --rate much", `--rate takes a number, not "much"`},
		{"run --wait 5", `--wait takes a duration with its unit, such as 500ms, 90s or 5m, not "5"`},
		{`run --names a"b`, `--names takes a list with commas, not "a\"b"`},
		{"run --number", `flag needs an argument: --number`},
		{"run -k three", `invalid argument "three" for "-k, --kind" flag: there is no kind "three"; use one or other`},
		{"run --kinds one,One", `invalid argument "one,One" for "--kinds" flag: "one" is given twice`},
	} {
		code, stdout, stderr := programtest.Call(t, newRoot(), error.Error, strings.Fields(test.line)...)
		assert.Equal(t, 1, code, test.line)
		assert.Empty(t, stdout, test.line)
		assert.True(t, strings.HasPrefix(stderr, "program: "+test.want), "%q: %s", test.line, stderr)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
}

func TestHelpIsPrinted(t *testing.T) {
	for _, same := range [][][]string{
		{{}, {"help"}, {"--help"}, {"-h"}},
		{{"help", "run"}, {"run", "--help"}, {"run", "-h"}},
		{{"group"}, {"help", "group"}, {"group", "-h"}},
	} {
		_, want, _ := programtest.Call(t, newRoot(), error.Error, same[0]...)
		assert.Contains(t, want, "Usage:\n")
		for _, args := range same {
			code, stdout, stderr := programtest.Call(t, newRoot(), error.Error, args...)
			assert.Zero(t, code, args)
			assert.Equal(t, want, stdout, args)
			assert.Empty(t, stderr, args)
		}
	}
}

// Descriptions stand beside short flags and below long ones, and take the whole width.
func TestTheHelpOfFlags(t *testing.T) {
	const description = "a description that is long enough to need more than one line of eighty columns, " +
		"wherever it begins"
	help := func(flag string) string {
		root := newRoot()
		run, _, err := root.Find([]string{"run"})
		require.NoError(t, err)
		run.ResetFlags()
		run.Flags().StringP(flag, "x", "", description)
		_, page, _ := programtest.Call(t, root, error.Error, "run", "--help")
		_, flags, _ := strings.Cut(page, "Flags:\n")
		return flags
	}
	assert.Equal(t, `  -x, --short string   a description that is long enough to need more than one
                       line of eighty columns, wherever it begins
  -h, --help           help for run
`, help("short"))
	assert.Equal(t, `  -x, --rather-a-long-name-for-one-flag string
          a description that is long enough to need more than one line of eighty
          columns, wherever it begins
  -h, --help
          help for run
`, help("rather-a-long-name-for-one-flag"))
}

func TestVersion(t *testing.T) {
	want := "program version " + program.Version + " ("
	for _, args := range [][]string{{"--version"}, {"version"}} {
		code, stdout, stderr := programtest.Call(t, newRoot(), error.Error, args...)
		assert.Zero(t, code, stderr)
		assert.True(t, strings.HasPrefix(stdout, want), stdout)
		assert.Equal(t, 1, strings.Count(stdout, "\n"))
	}
	_, stdout, _ := programtest.Call(t, newRoot(), error.Error, "version", "-o", "json")
	assert.Contains(t, stdout, `"version":"`+program.Version+`"`)
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		code, stdout, stderr := programtest.Call(t, newRoot(), error.Error, "completion", shell)
		assert.Zero(t, code, stderr)
		assert.Contains(t, stdout, "program", shell)
		assert.Greater(t, len(stdout), 1000, shell)
	}
	assert.Equal(t, []string{"one", "other"}, programtest.Complete(t, newRoot(), "run", "--kind", ""))
	assert.Equal(t, []string{"one", "other", "all"}, programtest.Complete(t, newRoot(), "run", "--kinds", ""))
	assert.Equal(t, []string{"one,other"}, programtest.Complete(t, newRoot(), "run", "--kinds", "one,"))
	assert.Equal(t, []string{"run"}, programtest.Complete(t, newRoot(), "ru"))
	// file names by the shell; no files; no files and no space
	for flag, directive := range map[string]string{"--file": ":0\n", "--kind": ":4\n", "--kinds": ":6\n"} {
		_, stdout, _ := programtest.Call(t, newRoot(), error.Error, cobra.ShellCompRequestCmd, "run", flag, "x")
		assert.True(t, strings.HasSuffix(stdout, directive), "%s: %q", flag, stdout)
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"run"}, 0, ""},
		{[]string{"run", "--fail"}, 1, "program: it failed with Bearer "},
		{[]string{"run", "--interrupt"}, program.ExitInterrupted, "program: it was early: interrupted\n"},
	} {
		code, stdout, stderr := programtest.Call(t, newRoot(), error.Error, c.args...)
		assert.Equal(t, c.code, code, c.args)
		assert.Empty(t, stdout)
		assert.True(t, strings.HasPrefix(stderr, c.says), stderr)
		assert.NotContains(t, stderr, "canary")
	}
}

// Scripts rely on the exit code: output that did not reach the disk is a failure. A closed pipe,
// as with "head", is not.
func TestOutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	assert.False(t, program.WantsColor(full), "a file is no terminal")
	for _, args := range [][]string{{"--help"}, {"help", "run"}, {"run", "-h"}, {}, {"group"}, {"--version"},
		{"version"}, {"completion", "bash"}, {"completion", "zsh"}} {
		var stderr strings.Builder
		assert.Equal(t, 1, program.Run(newRoot(), args, full, &stderr, error.Error), args)
		assert.Contains(t, stderr.String(), "no space left on device", args)
		assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), args)
	}
	root := newRoot()
	root.AddCommand(&cobra.Command{Use: "print", RunE: func(command *cobra.Command, _ []string) error {
		_, err := fmt.Fprintln(command.OutOrStdout(), "a page")
		return err
	}})
	var said strings.Builder
	assert.Equal(t, 1, program.Run(root, []string{"print"}, full, &said, error.Error))
	assert.Equal(t, "program: the output cannot be written: write /dev/full: no space left on device\n", said.String())
	said.Reset()
	root.AddCommand(&cobra.Command{Use: "stop", RunE: func(command *cobra.Command, _ []string) error {
		fmt.Fprintln(command.OutOrStdout(), "a page")
		return fmt.Errorf("it was early: %w", program.ErrInterrupted)
	}})
	assert.Equal(t, program.ExitInterrupted, program.Run(root, []string{"stop"}, full, &said, error.Error))
	assert.Equal(t, "program: it was early: interrupted\n", said.String(), "the command's own error counts")

	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	defer writer.Close()
	assert.Zero(t, program.Run(newRoot(), []string{"--help"}, writer, io.Discard, error.Error))
}
