package main

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/lab/demo/scenes"
)

// exampleLines are the commands of an example, without comments, with what a backslash continues on one line.
func exampleLines(example string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(strings.ReplaceAll(example, "\\\n", " "), "\n") {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !yield(line) {
				return
			}
		}
	}
}

// callOf is the call of orrery in a line for a shell: what stands before it, and what its output goes to, left out.
func callOf(line string) []string {
	_, line, found := strings.Cut(line, "orrery ")
	if !found {
		return nil
	}
	for _, end := range []string{" |", " >", ")"} {
		line, _, _ = strings.Cut(line, end)
	}
	return words(line)
}

// Whoever asks for help gets what a manual page has.
func TestEveryCommandHasAManual(t *testing.T) {
	for command := range allCommands(newRootCommand()) {
		t.Run(command.CommandPath(), func(t *testing.T) {
			assert.NotEmpty(t, command.Short)
			assert.False(t, strings.HasSuffix(command.Short, "."), "a headline has no full stop")
			assert.Greater(t, len(command.Long), len(command.Short))
			assert.NotEmpty(t, command.Example)
			page := helpPage(command, 80)
			if command.HasAvailableSubCommands() {
				assert.Contains(t, page, "\nCommands:\n")
				return
			}
			assert.Contains(t, page, "\nExit codes:\n  0 ")
			command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
				if flag.Name != "help" {
					assert.NotEmpty(t, flag.Usage, flag.Name)
					assert.Regexp(t, `(?m)^ +(-., )?--?`+flag.Name+`\b`, page, flag.Name)
				}
			})
		})
	}
}

// What the examples say can be typed.
func TestEveryExampleParses(t *testing.T) {
	for command := range allCommands(newRootCommand()) {
		calls := 0
		for line := range exampleLines(command.Example) {
			args := callOf(line)
			if args == nil {
				assert.True(t, strings.HasPrefix(line, "kubectl "), "%s: %s", command.CommandPath(), line)
				continue
			}
			calls++
			root := newRootCommand()
			found, rest, err := root.Find(args)
			require.NoError(t, err, line)
			require.NoError(t, found.ParseFlags(rest), line)
			require.NoError(t, found.Args(found, found.Flags().Args()), line)
			assert.True(t, strings.HasPrefix(found.CommandPath(), command.CommandPath()), "%s is an example of another command", line)
		}
		assert.NotZero(t, calls, command.CommandPath())
	}
}

// A page fits a terminal of 80 columns, and makes use of a wider one.
func TestPagesFit(t *testing.T) {
	for command := range allCommands(newRootCommand()) {
		for _, width := range []int{80, 100} {
			widest := 0
			for line := range strings.SplitSeq(helpPage(command, width), "\n") {
				assert.LessOrEqual(t, utf8.RuneCountInString(line), width, "%s: %s", command.CommandPath(), line)
				assert.Equal(t, strings.TrimRight(line, " "), line)
				widest = max(widest, len(line))
			}
			if len(command.Long) > width {
				assert.Greater(t, widest, width-15, "%s at %d", command.CommandPath(), width)
			}
		}
	}
}

func TestHelpWidth(t *testing.T) {
	for columns, want := range map[string]int{"": 80, "nonsense": 80, "60": 60, "120": 100, "5": 40} {
		t.Setenv("COLUMNS", columns)
		assert.Equal(t, want, helpWidth(new(strings.Builder)), columns)
	}
}

// Help is what was asked for, so it goes to the standard output; and all ways to ask for it are the same.
func TestHelpIsPrinted(t *testing.T) {
	_, want, _ := orrery(t, "run", "--help")
	for _, args := range [][]string{{"help", "run"}, {"run", "-h"}} {
		code, stdout, stderr := orrery(t, args...)
		assert.Zero(t, code)
		assert.Equal(t, want, stdout)
		assert.Empty(t, stderr)
	}
	for _, part := range []string{
		"Replicas:\n      --leader-elect\n", "--namespace-sync-period duration\n", "(default\n          5m)", "KUBECONFIG ", "docs/running.md",
	} {
		assert.Contains(t, want, part)
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range shells {
		code, stdout, stderr := orrery(t, "completion", shell)
		assert.Zero(t, code, stderr)
		assert.Contains(t, stdout, "orrery", shell)
		assert.Greater(t, len(stdout), 1000, shell)
	}
}

// complete asks the program what a shell asks it when somebody presses Tab after these words.
func complete(t *testing.T, words ...string) []string {
	t.Helper()
	code, stdout, stderr := orrery(t, append([]string{cobra.ShellCompNoDescRequestCmd}, words...)...)
	require.Zero(t, code, stderr)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	return lines[:len(lines)-1] // the last is a number for the script
}

func TestValuesAreCompleted(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(kubeconfig, []byte(`{"apiVersion":"v1","kind":"Config","contexts":[{"name":"staging","context":{}},{"name":"live","context":{}}]}`), 0o600))
	tests := []struct {
		words []string
		want  []string
	}{
		{[]string{"run", "--controllers", ""}, []string{"*", "namespace-controller", "-namespace-controller"}},
		{[]string{"run", "--watch-transport", ""}, []string{"http", "websocket"}},
		{[]string{"run", "--log-format", "j"}, []string{"text", "json"}}, // the shell chooses
		{[]string{"run", "--kubeconfig", kubeconfig, "--context", ""}, []string{"live", "staging"}},
		{[]string{"run", "--kubeconfig", "/does/not/exist", "--context", ""}, []string{}},
		{[]string{"run", "--namespace-sync-period", ""}, []string{}},
		{[]string{"demo", "--scene", ""}, scenes.Names()},
		{[]string{"rbac", "-o", ""}, []string{"yaml", "json"}},
		{[]string{"completion", "z"}, []string{"zsh"}},
		{[]string{"ver"}, []string{"version"}},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.words, " "), func(t *testing.T) { assert.Equal(t, test.want, complete(t, test.words...)) })
	}
}

func TestContextsAreThoseOfKubectl(t *testing.T) {
	one, other := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	for file, name := range map[string]string{one: "x", other: "y"} {
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","contexts":[{"name":%q,"context":{}}]}`, name), 0o600))
	}
	run, _, err := newRootCommand().Find([]string{"run"})
	require.NoError(t, err)
	t.Setenv("KUBECONFIG", one+string(filepath.ListSeparator)+other)
	names, _ := contexts(run, nil, "")
	assert.Equal(t, []string{"x", "y"}, names)

	home := t.TempDir()
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", home)
	require.NoError(t, os.Mkdir(filepath.Join(home, ".kube"), 0o700))
	data, err := os.ReadFile(one)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(home, ".kube", "config"), data, 0o600))
	names, _ = contexts(run, nil, "")
	assert.Equal(t, []string{"x"}, names)
}

// Only what takes the name of a file is completed with names of files.
func TestNoFilesWhereNoneAreMeant(t *testing.T) {
	for command := range allCommands(newRootCommand()) {
		var files []string
		command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			_, known := command.GetFlagCompletionFunc(flag.Name)
			if !known && flag.Value.Type() != "bool" {
				files = append(files, flag.Name)
			}
		})
		for _, name := range files {
			assert.True(t, slices.Contains([]string{"kubeconfig", "kubeconfig-out", "token-auth-file", "client-ca-file", "plot"}, name), "%s --%s", command.CommandPath(), name)
		}
	}
}
