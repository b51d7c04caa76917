// Package programtest holds what the tests of both programs share.
package programtest

import (
	"bytes"
	"iter"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program"
)

// Call runs a program with these arguments and returns its exit code and what it wrote.
func Call(t *testing.T, root *cobra.Command, explain func(error) string,
	args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = program.Run(root, args, &out, &err, explain)
	return code, out.String(), err.String()
}

// Complete returns the completions that a shell offers after these words.
func Complete(t *testing.T, root *cobra.Command, words ...string) []string {
	t.Helper()
	code, stdout, stderr := Call(t, root, error.Error, append([]string{cobra.ShellCompNoDescRequestCmd}, words...)...)
	require.Zero(t, code, stderr)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	return lines[:len(lines)-1] // the last is a number for the script
}

// Commands are a command and all below it, without those that cobra adds.
func Commands(command *cobra.Command) iter.Seq[*cobra.Command] {
	return func(yield func(*cobra.Command) bool) {
		if !yield(command) {
			return
		}
		for _, sub := range command.Commands() {
			for each := range Commands(sub) {
				if !yield(each) {
					return
				}
			}
		}
	}
}

// TestHelp checks the help of each command of a program: it says what the command does, fits a
// terminal, and its examples can be typed. newRoot returns the commands anew, as examples are
// parsed with them.
func TestHelp(t *testing.T, newRoot func() *cobra.Command) {
	for command := range Commands(newRoot()) {
		if command.Hidden || command.IsAdditionalHelpTopicCommand() {
			continue
		}
		path := command.CommandPath()
		t.Run(path, func(t *testing.T) {
			assert.NotEmpty(t, command.Short)
			assert.False(t, strings.HasSuffix(command.Short, "."), "a headline has no full stop")
			assert.Greater(t, len(command.Long), len(command.Short))
			code, page, stderr := Call(t, newRoot(), error.Error, append(strings.Fields(path)[1:], "--help")...)
			require.Zero(t, code, stderr)
			for line := range strings.Lines(page) {
				line = strings.TrimRight(line, "\n")
				assert.LessOrEqual(t, utf8.RuneCountInString(line), 80, "%q", line)
			}
			command.LocalFlags().VisitAll(func(flag *pflag.Flag) { assert.NotEmpty(t, flag.Usage, flag.Name) })
			calls := 0
			for line := range exampleLines(command.Example) {
				args := callOf(newRoot().Name(), line)
				if args == nil {
					assert.True(t, strings.HasPrefix(line, "kubectl "), line)
					continue
				}
				calls++
				parses(t, newRoot(), path, args)
			}
			assert.NotZero(t, calls, "it has an example")
		})
	}
}

// parses checks that a program understands these arguments, as a call of this command or of one
// below it.
func parses(t *testing.T, root *cobra.Command, path string, args []string) {
	t.Helper()
	program.Prepare(root)
	found, rest, err := root.Find(args)
	require.NoError(t, err, args)
	require.NoError(t, found.ParseFlags(rest), args)
	require.NoError(t, found.ValidateArgs(found.Flags().Args()), args)
	assert.True(t, strings.HasPrefix(found.CommandPath(), path), "%q is not an example of %q", args, path)
}

// TestDocumentation checks that a program understands its commands in the documentation. root is
// the repository. It returns the number of commands by the name of the file.
func TestDocumentation(t *testing.T, newRoot func() *cobra.Command, root string) map[string]int {
	t.Helper()
	name, found := newRoot().Name(), map[string]int{}
	for _, pattern := range []string{"README*.md", "docs/*/*.md", "workshop/README*.md", "workshop/labs/*/README*.md",
		"workshop/teach/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
				for _, end := range []string{"#", "|", " 2>"} {
					line, _, _ = strings.Cut(line, end)
				}
				line = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "$ "), "bin/")
				if strings.HasPrefix(line, name+" ") {
					found[filepath.Base(file)]++
					parses(t, newRoot(), name, Words(line)[1:])
				}
			}
		}
	}
	return found
}

// exampleLines are the commands of an example, without comments, with what a backslash continues on
// one line.
func exampleLines(example string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(strings.ReplaceAll(example, "\\\n", " "), "\n") {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !yield(line) {
				return
			}
		}
	}
}

// callOf is the call of the program in a line for a shell: what stands before it, and what its
// output goes to, left out.
func callOf(name, line string) []string {
	_, line, found := strings.Cut(line, name+" ")
	if !found {
		return nil
	}
	for _, end := range []string{" |", " >", ")"} {
		line, _, _ = strings.Cut(line, end)
	}
	return Words(line)
}

// Words splits a command line. Quotes hold a word together.
func Words(line string) []string {
	found := regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`).FindAllString(line, -1)
	for i, word := range found {
		found[i] = strings.Trim(word, `"'`)
	}
	return found
}

// FreePort returns a port of 127.0.0.1 that is not in use. It lies outside the ephemeral range, so
// that no other process is given it in the meantime.
func FreePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 20_000 + rand.IntN(10_000)
		if listener, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			require.NoError(t, listener.Close())
			return port
		}
	}
	require.Fail(t, "none of 100 random ports could be opened")
	return 0
}
