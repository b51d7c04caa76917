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
	"orrery/internal/lab/course/labtest"
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

// Wrong usage has one exit code in all commands, and is reported before anything is done.
func TestMistakesGetOneClearSentence(t *testing.T) {
	begun(t, labtest.Reference)
	for _, c := range [][2]string{
		{"dmo", `lab: unknown command "dmo"; did you mean demo? (see "lab --help")`},
		{"runn", `lab: unknown command "runn"; did you mean run?`},
		{"help nosuch", `lab: unknown command "nosuch"`},
		{"demo --nope", `lab: unknown flag: --nope (see "lab demo --help")`},
		{"demo --scene delite", `lab: --scene: there is no scene "delite"; the scenes are delete, `},
		{"replay", `lab: give the file of a recording (see "lab replay --help")`},
		{"replay a b", `lab: unexpected argument "b" (see "lab replay --help")`},

		{"start 77", `lab: there is no lab "77"; "lab list" shows them`},
		{"test", `lab: which lab? "lab list" shows them; for example: lab test 08`},
		{"test --nope", `lab: unknown flag: --nope (see "lab test --help")`},
		{"start 08 09", `lab: unexpected argument "09" (see "lab start --help")`},
		{"list --lang fr", `lab: there is no language "fr"; use en or zh-CN (see "lab list --help")`},
		{"run", `lab: which lab? "lab list" shows them; for example: lab run 08`},
		{"run --all", `lab: no lab that has passed is part of the controller; "lab list" shows the labs`},
		{"run 04 --scene --bench", `lab: --scene and --bench exclude each other (see "lab run --help")`},
		{"run 04 --keep --build x", `lab: --keep and --build exclude each other (see "lab run --help")`},
		{"run 04 --keep --scene", `lab: --keep and --scene exclude each other (see "lab run --help")`},
		{"run 04 --view --build x", `lab: --view and --build exclude each other`},
		{"run 04 --view --bench", `lab: --view and --bench exclude each other`},
		{"run 04 --view-port 7071", `lab: --view-port needs --view`},
		{"run 04 --no-open", `lab: --no-open needs --view`},
		{"run 04 --view --view-port 65536", `lab: --view-port must be between 1 and 65535, not 65536`},
		{"run 04 --bench", `lab: there is no benchmark for this; labs with one: `},
		{"run 04 --scene", `lab: lab 04 has no scene; "lab demo --help" lists all scenes`},

		{"break", `name a cause, or --random`},
		{"break C77", `there is no cause "C77"; use one of C01, `},
		{"break C01 C02", `lab: unexpected argument "C02" (see "lab break --help")`},
		{"break --check", `--check needs --server and the kubeconfig of a "lab break"`},
		{"break C07 --server /nope", `--check needs --server and the kubeconfig of a "lab break"`},
		{"break --check --server /nope", `/nope`},
		{"break C07 --random", `--random excludes --check and a cause`},
		{"break --seed 82 first", `--seed must be a number from 1 to 81`},
		{"break --seed 0 first", `--seed must be a number from 1 to 81`},

		{"bench queu", `lab: unknown command "queu"; did you mean queue?`},
		{"bench sto", `lab: unknown command "sto"; did you mean store?`},
		{"bench queue now", `unexpected argument "now"`},
		{"bench queue --workers 0", `"--workers" flag: it must be at least 1 (see "lab bench queue --help")`},
		{"bench queue --distribution even", `there is no distribution "even"; use uniform, zipf or hot`},
		{"bench queue -o yaml", `there is no output format "yaml"; use table, json or benchfmt`},
		{"bench fifo --design fast,quick", `there is no design "quick"; use fast, textbook, inorder or all`},
		{"bench fifo --design textbook,textbook", `"textbook" is given twice`},
		{"bench dispatch --handler-cost 1m", `"--handler-cost" flag: it must be at most 10s`},
		{"bench queue --rounds 0", `"--rounds" flag: it must be at least 1`},
		{"bench fifo --vary design=fast,textbook", `"design" is not a flag that can be varied`},
		{"bench queue --vary workers=1,2 --workers 3",
			`--workers has one value and --vary others: use only one of them`},
		{"bench queue --vary workers=8..1", `a range must begin above zero and end above its beginning`},
		{"bench queue --vary distribution=uniform..zipf",
			`only numbers and durations have ranges; write a list with commas`},
		{"bench queue --vary workers=1..x", `--vary workers=1..x: "x" is not a number`},
		{"bench queue --vary duration=1ns..1h", `34 values given; the limit is 32`},
		{"bench queue --vary wrokers=1",
			`"wrokers" is not a flag that can be varied; use one of producers, workers, keys,`},
		{"bench queue --vary workers", `--vary workers: it must be a flag and its values, such as producers=1..64`},
		{"bench queue --vary workers=1,0",
			`--vary workers=0: invalid argument "0" for "--workers" flag: it must be at least 1`},
	} {
		args, want := c[0], c[1]
		code, stdout, stderr := lab(t, strings.Fields(args)...)
		assert.Equal(t, 2, code, args)
		if !strings.HasPrefix(args, "run ") { // it may say before how far the page is
			assert.Empty(t, stdout, args)
		}
		assert.Contains(t, stderr, want, args)
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
