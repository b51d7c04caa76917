package main

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program"
	"orrery/internal/app/program/programtest"
	"orrery/internal/lab/bench/workloads"
	"orrery/internal/lab/clustertest"
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

// lab runs a command in English.
func lab(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return programtest.Call(t, newRootCommand(), error.Error, args...)
}

// running is a command that was started.
type running struct {
	stop    func()
	out     *io.PipeReader
	printed string
	stderr  clustertest.Buffer
	ended   chan error
}

// start starts a command, which ends with the test.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	r := &running{stop: stop, out: reader, ended: make(chan error, 1)}
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(writer)
	root.SetErr(&r.stderr)
	program.Prepare(root)
	go func() {
		r.ended <- root.ExecuteContext(ctx)
		writer.Close()
	}()
	t.Cleanup(func() { stop(); reader.Close() })
	return r
}

// until reads the output up to a text, and returns what was printed.
func (r *running) until(t *testing.T, text string) string {
	t.Helper()
	buffer := make([]byte, 4096)
	for !strings.Contains(r.printed, text) {
		n, err := r.out.Read(buffer)
		r.printed += string(buffer[:n])
		require.NoError(t, err, "it has ended: %s%s", r.printed, &r.stderr)
	}
	return r.printed
}

// end stops the command and returns its error.
func (r *running) end() error {
	r.stop()
	r.out.Close()
	return <-r.ended
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
		{"help nosuch", `lab: unknown command "nosuch"`},
		{"demo --nope", `lab: unknown flag: --nope (see "lab demo --help")`},
		{"demo --scene delite", `lab: --scene: there is no scene "delite"; the scenes are delete, `},
		{"demo --scene store-decides --keep", `the scene store-decides has no controller that --keep could keep`},
		{"demo --scene stall --keep", `the scene stall has no controller that --keep could keep`},
		{"demo --no-open", `--view-port and --no-open need --view`},
		{"demo --scene index --view --no-open", `the scene index has no gear that the view or a recording could show`},
		{"demo --scene index --record x.jsonl", `no gear that the view or a recording could show`},
		{"replay", `lab: give the file of a recording (see "lab replay --help")`},
		{"replay x --view-port 65536", `--view-port must be between 1 and 65535, not 65536`},

		{"start 77", `lab: there is no lab "77"; "lab list" shows them`},
		{"test", `lab: which lab? "lab list" shows them; for example: lab test 08`},
		{"start 08 09", `lab: unexpected argument "09" (see "lab start --help")`},
		{"list --lang fr", `lab: there is no language "fr"; use en or zh-CN (see "lab list --help")`},
		{"run", `lab: which lab? "lab list" shows them; for example: lab run 08`},
		{"run --all", `lab: no lab that has passed is part of the controller; "lab list" shows the labs`},
		{"run 04 --scene --bench", `lab: --scene and --bench exclude each other (see "lab run --help")`},
		{"run 04 --keep --build x", `lab: --keep and --build exclude each other (see "lab run --help")`},
		{"run 04 --view --bench", `lab: --bench and --view exclude each other`},
		{"run 04 --build=", `lab: --build needs the name of a file`},
		{"run 04 --view-port 7071", `lab: --view-port and --no-open need --view`},
		{"run 04 --view --view-port 65536", `lab: --view-port must be between 1 and 65535, not 65536`},
		{"run 04 --bench", `lab: there is no benchmark for this; labs with one: `},
		{"run 04 --scene --keep=false", `lab: lab 04 has no scene; "lab demo --help" lists all scenes`},

		{"break", `name a cause, or --random`},
		{"break C77", `there is no cause "C77"; use one of C01, `},
		{"break --check", `--check needs --server and the kubeconfig of a "lab break"`},
		{"break C07 --server /nope", `--check needs --server and the kubeconfig of a "lab break"`},
		{"break --check --server /nope", `/nope`},
		{"break C07 --random", `--random, --check and a cause exclude each other`},
		{"break --check --random --server /nope", `--random, --check and a cause exclude each other`},
		{"break --seed 82 first", `--seed must be a number from 1 to 81`},

		{"serve --listen here", `--listen must be an address with a port`},
		{"serve --listen 127.0.0.1:http", `--listen must be an address with a port`},
		{"serve --listen 0.0.0.0:0 --insecure-http", `--insecure-http is for the loopback interf`},
		{"serve --listen :0 --insecure-http", `and --listen=:0 is open to others`},
		{"serve --nodes -1", `--nodes takes a whole number that is not negative, not "-1"`},
		{"serve -v=-1", `-v takes a whole number that is not negative, not "-1"`},
		{"serve --fault nonsense", `--fault: `},

		{"bench queu", `lab: unknown command "queu"; did you mean queue?`},
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
		{"bench queue --vary wrokers=1",
			`"wrokers" is not a flag that can be varied; use one of producers, workers, keys,`},
		{"bench queue --vary workers", `--vary workers: it must be a flag and its values, such as producers=1,2,4`},
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

// What is wrong with a file, a port or the output is one sentence, too.
func TestFailuresGetOneClearSentence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	const noSpace = "the output cannot be written: write /dev/full: no space left on device"
	for _, c := range []struct {
		out  io.Writer
		args []string
		want string
	}{
		{io.Discard, []string{"serve", "--kubeconfig-out", filepath.Join(file, "x")}, "the kubeconfig cannot be"},
		{io.Discard, []string{"serve", "--listen", taken.Addr().String()},
			"in use; choose another address with --listen, port 0 for a free one"},
		{full, []string{"serve"}, noSpace},
		{full, []string{"demo"}, noSpace},
		{full, short("queue", "--rounds", "1", "-q"), noSpace},
	} {
		var stderr strings.Builder
		assert.Equal(t, 1, program.Run(newRootCommand(), c.args, c.out, &stderr, error.Error), c.args)
		assert.Contains(t, stderr.String(), c.want)
		assert.Equal(t, 1, strings.Count(stderr.String(), "lab: "), stderr.String())
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
	assert.Equal(t, []string{"en", "zh-CN"}, programtest.Complete(t, newRootCommand(), "start", "--lang", ""))
	assert.Empty(t, programtest.Complete(t, newRootCommand(), "demo", "--you"), "the flag of lab run alone is hidden")
}
