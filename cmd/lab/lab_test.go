package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program/programtest"
	"orrery/internal/lab/bench/workloads"
	"orrery/internal/lab/demo"
)

// asProgram is the variable that makes the test the real program.
const asProgram = "ORRERY_TEST_AS_LAB"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	workloads.ServeIfAsked()  // "lab bench sync" starts the program again as its server
	os.Unsetenv("KUBECONFIG") // no test uses the machine's cluster
	os.Exit(m.Run())
}

func TestHelp(t *testing.T) { programtest.TestHelp(t, newRootCommand) }

// The program accepts every command in the documentation.
func TestTheDocumentationsCommandsParse(t *testing.T) {
	found := programtest.TestDocumentation(t, newRootCommand, "../..")
	assert.GreaterOrEqual(t, found["README.md"], 3)
	assert.Greater(t, found["bench.md"], 10)
	assert.Positive(t, found["apiserver.md"])
	assert.Positive(t, found["README.zh-CN.md"])
}

// Wrong usage has one exit code in all commands.
func TestMistakesGetOneClearSentence(t *testing.T) {
	for want, args := range map[string][]string{
		`unknown command "dmo"; did you mean demo? (see "lab --help")`: {"dmo"},
		`unknown command "runn"; did you mean run?`:                    {"runn"},
		`unknown command "nosuch"`:                                     {"help", "nosuch"},
		`unknown command "queu"; did you mean queue?`:                  {"bench", "queu"},
		`unknown command "sto"; did you mean store?`:                   {"bench", "sto"},
		`unknown flag: --nope (see "lab demo --help")`:                 {"demo", "--nope"},
		`--scene: there is no scene "delite"; the scenes are delete, `: {"demo", "--scene", "delite"},
		`there is no lab "77"; "lab list" shows them`:                  {"start", "77"},
		`give the file of a recording (see "lab replay --help")`:       {"replay"},
		`unexpected argument "b" (see "lab replay --help")`:            {"replay", "a", "b"},
		`unexpected argument "C02" (see "lab break --help")`:           {"break", "C01", "C02"},
	} {
		code, stdout, stderr := programtest.Call(t, newRootCommand(), error.Error, args...)
		assert.Equal(t, 2, code, args)
		assert.Empty(t, stdout, args)
		assert.True(t, strings.HasPrefix(stderr, "lab: "+want), stderr)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
}

// "lab bench sync" starts the program again as its server, which only main can do.
func TestBenchSyncOfTheProgram(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	lab := exec.CommandContext(t.Context(), self, "bench", "sync", "--objects", "50", "--rounds", "1")
	lab.Env = append(os.Environ(), asProgram+"=yes")
	output, err := lab.CombinedOutput()
	assert.NoError(t, err, "%s", output)
	assert.Contains(t, string(output), "bench sync")
}

func TestValuesAreCompleted(t *testing.T) {
	assert.Equal(t, []string{"demo"}, programtest.Complete(t, newRootCommand(), "de"))
	assert.Equal(t, demo.Names(), programtest.Complete(t, newRootCommand(), "demo", "--scene", ""))
	assert.Contains(t, programtest.Complete(t, newRootCommand(), "serve", "--fault", ""), "cut-watches")
}
