package house_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scripts is a repository with only this one's scripts, and a PATH that begins with fake
// programs.
type scripts struct {
	t    *testing.T
	root string
}

func newScripts(t *testing.T) *scripts {
	s := &scripts{t: t, root: t.TempDir()}
	require.NoError(t, os.CopyFS(filepath.Join(s.root, ".ci"), os.DirFS(filepath.Join(root, ".ci"))))
	s.program("sleep", `echo "slept $1"`)
	return s
}

// program writes a fake program: the lines of a shell script.
func (s *scripts) program(name, lines string) {
	s.write(filepath.Join("fake", name), "#!/bin/sh\n"+lines+"\n", 0o755)
}

func (s *scripts) write(name, text string, mode os.FileMode) {
	s.t.Helper()
	path := filepath.Join(s.root, name)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(s.t, os.WriteFile(path, []byte(text), mode))
}

// run returns a script's output and its exit code.
func (s *scripts) run(script string, environment ...string) (string, int) {
	s.t.Helper()
	words := strings.Fields(script)
	command := exec.Command(filepath.Join(s.root, ".ci", words[0]), words[1:]...)
	command.Dir = s.root
	path := filepath.Join(s.root, "fake") + string(os.PathListSeparator) + os.Getenv("PATH")
	command.Env = append(os.Environ(), "PATH="+path, "VULN_STRICT=", "LINT_STRICT=", "VULN_DB=")
	command.Env = append(command.Env, environment...)
	said, err := command.CombinedOutput()
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		require.NoError(s.t, err)
	}
	return string(said), command.ProcessState.ExitCode()
}

// installs writes a fake go command that installs any program with these lines, or none.
func (s *scripts) installs(program string) {
	if program == "" {
		s.program("go", `[ "$1" = env ] && echo go1.0 && exit; echo "dial tcp: no such host" >&2; exit 1`)
		return
	}
	s.write("program", "#!/bin/sh\n"+program+"\n", 0o755)
	s.program("go", `[ "$1" = env ] && echo go1.0 && exit; name=${2##*/}; cp program "$GOBIN/${name%@*}"; echo "installed $2"`)
}

func TestWhatNeedsTheNetworkIsTriedThreeTimes(t *testing.T) {
	s := newScripts(t)
	s.program("flaky", `echo x >> tries; [ "$(wc -l < tries)" -ge "$1" ] || exit 7; echo "done at last"`)
	said, code := s.run("again flaky 3")
	assert.Zero(t, code)
	assert.Equal(t, 2, strings.Count(said, "slept"), said)
	assert.True(t, strings.HasSuffix(said, "done at last\n"), said)

	require.NoError(t, os.Remove(filepath.Join(s.root, "tries")))
	said, code = s.run("again flaky 4")
	assert.Equal(t, 7, code, said)
}

func TestChecksThatNeedTheNetwork(t *testing.T) {
	const unreachable = `echo "govulncheck: fetching vulnerabilities: Get \"https://vuln.go.dev\": no such host" >&2; exit 1`
	const noMirror = "echo creating client: unrecognized vulndb format; exit 1"
	for name, c := range map[string]struct {
		script, program, environment string
		code                         int
		says                         string
	}{
		"vulnerabilities: none":                       {"vulncheck", "echo No vulnerabilities found.", "", 0, "No vulnerabilities found.\n"},
		"vulnerabilities: some":                       {"vulncheck", "echo Vulnerability 1; exit 3", "", 3, "Vulnerability 1\n"},
		"vulnerabilities: some, strictly":             {"vulncheck", "echo Vulnerability 1; exit 3", "VULN_STRICT=1", 3, "Vulnerability 1\n"},
		"vulnerabilities: code that does not compile": {"vulncheck", "echo no such package; exit 1", "", 1, "no such package\n"},
		"vulnerabilities: no database":                {"vulncheck", unreachable, "", 0, "vulnerabilities: NOT CHECKED, the database cannot be reached (no such host)"},
		"vulnerabilities: no database, strictly":      {"vulncheck", unreachable, "VULN_STRICT=1", 1, "VULN_STRICT is set"},
		"vulnerabilities: no mirror":                  {"vulncheck", noMirror, "", 0, "vulnerabilities: NOT CHECKED"},
		"vulnerabilities: of imports":                 {"vulncheck -scan package", "echo $*", "", 0, "package ./...\n"},
		"vulnerabilities: no tool":                    {"vulncheck", "", "", 0, "vulnerabilities: NOT CHECKED, govulncheck cannot be installed"},
		"vulnerabilities: no tool, strictly":          {"vulncheck", "", "VULN_STRICT=1", 1, "VULN_STRICT is set"},
		"staticcheck: nothing":                        {"staticcheck", "exit 0", "", 0, ""},
		"staticcheck: something":                      {"staticcheck", "echo x.go:1:1: unused; exit 1", "", 1, "x.go:1:1: unused\n"},
		"staticcheck: no tool":                        {"staticcheck", "", "", 0, "staticcheck: NOT CHECKED, it cannot be installed"},
		"staticcheck: no tool, strictly":              {"staticcheck", "", "LINT_STRICT=1", 1, "LINT_STRICT is set"},
	} {
		s := newScripts(t)
		s.installs(c.program)
		said, code := s.run(c.script, c.environment)
		assert.Equal(t, c.code, code, "%s: %s", name, said)
		assert.Contains(t, said, c.says, name)
		assert.Equal(t, c.program == "" && c.environment == "" || strings.Contains(c.says, "NOT CHECKED"), strings.Contains(said, "NOT CHECKED"), name)
	}
}

func TestEveryFuzzTargetIsFed(t *testing.T) {
	s := newScripts(t)
	s.write("a/fuzz_test.go", "package a\n\nfunc FuzzOne(f *testing.F) {}\n\nfunc FuzzTwo(f *testing.F) {}\n", 0o644)
	s.write("b/c/x_test.go", "package c\n\nfunc FuzzThree(f *testing.F) {}\n", 0o644)
	s.write("upstream/y_test.go", "package upstream\n\nfunc FuzzOfAnotherModule(f *testing.F) {}\n", 0o644)
	s.program("go", `echo "$@"`)
	said, code := s.run("fuzz", "FUZZTIME=7s")
	assert.Zero(t, code, said)
	const flags = "-fuzztime=7s -fuzzminimizetime=2s"
	assert.Equal(t, "  a FuzzOne\ntest -run=^$ -fuzz=^FuzzOne$ "+flags+" ./a\n"+
		"  a FuzzTwo\ntest -run=^$ -fuzz=^FuzzTwo$ "+flags+" ./a\n"+
		"  b/c FuzzThree\ntest -run=^$ -fuzz=^FuzzThree$ "+flags+" ./b/c\n", said)

	_, code = newScripts(t).run("fuzz")
	assert.Equal(t, 1, code, "a repository without targets is not this one")
}
