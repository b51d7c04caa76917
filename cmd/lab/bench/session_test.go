package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program"
	"orrery/internal/app/program/programtest"
	"orrery/internal/lab/bench"
	"orrery/internal/lab/bench/workloads"
)

// "lab bench sync" starts the program again as its server; here the program is the test.
func TestMain(m *testing.M) {
	workloads.ServeIfAsked()
	os.Exit(m.Run())
}

// lab runs the command as a user would.
func lab(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return programtest.Call(t, newRoot(), error.Error, append([]string{"bench"}, args...)...)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{Use: "lab"}
	root.AddCommand(New())
	return root
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// small are flags that make each benchmark short.
var small = map[string][]string{
	"queue":    {"--keys", "100", "--duration", "20ms"},
	"dispatch": {"--objects", "50", "--duration", "20ms"},
	"fifo":     {"--keys", "100", "--duration", "20ms"},
	"store":    {"--objects", "100", "--readers", "1", "--duration", "20ms"},
	"sync":     {"--objects", "50"},
}

// once returns the arguments of a short benchmark of one round.
func once(name string, more ...string) []string {
	return slices.Concat([]string{name, "--rounds", "1"}, small[name], more)
}

// benchDocument is the output of -o json.
type benchDocument struct {
	Results []struct {
		Bench, Subject string
		Parameters     map[string]string
		Figures        []bench.Figure
		Latency        *struct{ Count int }
		Proof          []string
	}
}

func benchJSON(t *testing.T, args ...string) benchDocument {
	t.Helper()
	code, stdout, stderr := lab(t, append(args, "-o", "json")...)
	require.Zero(t, code, stderr)
	var document benchDocument
	require.NoError(t, json.Unmarshal([]byte(stdout), &document))
	return document
}

// Each benchmark runs and prints its figures and its checks, on standard output only.
func TestBenchmarksRun(t *testing.T) {
	require.Len(t, small, len(benchmarks))
	for _, kind := range benchmarks {
		t.Run(kind.name, func(t *testing.T) {
			document := benchJSON(t, once(kind.name)...)
			require.Len(t, document.Results, 1)
			result := document.Results[0]
			assert.Equal(t, kind.name, result.Bench)
			assert.NotEmpty(t, result.Figures)
			assert.NotEmpty(t, result.Proof)
			if kind.name != "sync" {
				require.NotNil(t, result.Latency)
				assert.Positive(t, result.Latency.Count)
			}
			for flag, value := range pairs(small[kind.name]) {
				assert.Equal(t, value, result.Parameters[flag], "the flag has arrived")
			}
		})
	}
}

// pairs returns flags and their values.
func pairs(args []string) map[string]string {
	found := map[string]string{}
	for i := 0; i+1 < len(args); i += 2 {
		found[strings.TrimPrefix(args[i], "--")] = args[i+1]
	}
	return found
}

func TestBenchTableAndProgress(t *testing.T) {
	code, stdout, stderr := lab(t, once("queue")...)
	require.Zero(t, code, stderr)
	assert.Regexp(t, `(?m)^bench queue$`, stdout)
	assert.Regexp(t, `(?m)^  processed +\S+( [kMG])?/s$`, stdout)
	assert.Regexp(t, `(?m)^  p99\.9 +\S+ (ns|µs|ms|s)$`, stdout)
	assert.Contains(t, stdout, "\nchecked\n")
	assert.Empty(t, stderr, "progress is for terminals")

	code, _, stderr = lab(t, once("queue", "--quiet")...)
	assert.Zero(t, code)
	assert.Empty(t, stderr)
}

// Designs side by side have a column each, and a picture with all of them.
func TestBenchDesigns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "designs.svg")
	code, stdout, stderr := lab(t, once("fifo", "--design", "all", "--plot", file)...)
	require.Zero(t, code, stderr)
	assert.Regexp(t, `(?m)^ +fast +textbook +inorder$`, stdout)
	assert.Contains(t, stderr, "[2/3] textbook\n")
	assert.Regexp(t, `(?m)^  rate for latency( +\S+( [kM])?/s){3}$`, stdout)
	svg := svgText(t, file)
	for _, want := range []string{"lab bench fifo: latency by percentile", "fast", "textbook", "inorder", "p99.9"} {
		assert.Contains(t, svg, want)
	}
}

// svgText parses a picture and returns its texts.
func svgText(t *testing.T, file string) string {
	t.Helper()
	svg, err := os.ReadFile(file)
	require.NoError(t, err)
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	var texts []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if text, ok := token.(xml.CharData); ok {
			texts = append(texts, string(text))
		}
	}
	return strings.Join(texts, "\n")
}

func TestBenchSyncDesigns(t *testing.T) {
	document := benchJSON(t, once("sync", "--design", "all")...)
	require.Len(t, document.Results, 2)
	assert.Equal(t, "fast", document.Results[0].Subject)
	assert.Equal(t, "textbook", document.Results[1].Subject)
	assert.Equal(t, document.Results[0].Proof, document.Results[1].Proof)
}

// A failed job shows nothing, and earlier jobs are not presented as the complete result.
func TestBenchShowsNothingOfARunThatFails(t *testing.T) {
	good := job{design: "good", do: func(context.Context, *bench.Meter) (*bench.Result, error) {
		return &bench.Result{Bench: "x", Subject: "good", Figures: []bench.Figure{{Name: "events", Unit: bench.PerSecond, Value: 1}}}, nil
	}}
	bad := job{design: "bad", do: func(context.Context, *bench.Meter) (*bench.Result, error) {
		return nil, bench.Prove("keys processed", 2, 1)
	}}
	session, stdout, _ := sessionFor(t)
	session.options.plot = filepath.Join(t.TempDir(), "x.svg")
	err := session.run([]job{good, bad})
	require.ErrorAs(t, err, new(*bench.ProofError))
	assert.Equal(t, "bad: the work was not done: keys processed: got 1, want 2", err.Error())
	assert.Empty(t, stdout.String())
	assert.NoFileExists(t, session.options.plot)
}

func sessionFor(t *testing.T) (s *session, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	options := &outputFlags{rounds: 1, output: outputTable}
	return &session{ctx: t.Context(), options: options, stdout: stdout, stderr: stderr}, stdout, stderr
}

// interruptedRun is a job interrupted by Ctrl-C.
func interruptedRun(value string) job {
	return job{value: value, do: func(ctx context.Context, meter *bench.Meter) (*bench.Result, error) {
		meter.Begin("as fast as possible")
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
}

// An interrupted sweep shows its complete rows. It draws no picture, which would look complete.
func TestBenchSweepInterrupted(t *testing.T) {
	session, stdout, stderr := sessionFor(t)
	session.varied = "workers"
	session.options.plot = filepath.Join(t.TempDir(), "x.svg")
	first := job{value: "1", do: func(context.Context, *bench.Meter) (*bench.Result, error) {
		return &bench.Result{
			Bench: "queue", Subject: "orrery", Parameters: []bench.Parameter{{Name: "workers", Value: "1"}},
			Figures: []bench.Figure{{Name: "processed", Unit: bench.PerSecond, Value: 4.2e6}},
		}, nil
	}}
	err := session.run([]job{first, interruptedRun("2"), first})
	require.ErrorAs(t, err, new(*interruptedError))
	assert.Equal(t, `interrupted during "as fast as possible" of workers=2; an unfinished run has no result, 1 finished before`, err.Error())
	assert.Regexp(t, `(?m)^  1 +4\.2 M/s$`, stdout.String())
	assert.Contains(t, stderr.String(), "[2/3] workers=2\n")
	assert.NotContains(t, stderr.String(), "[3/3]")
	assert.NoFileExists(t, session.options.plot)
}

// The exit code tells scripts that there is no result, and why.
func TestBenchInterruptedExitCode(t *testing.T) {
	interrupted := benchmark{name: "interrupted", short: "X", workload: func() workload { return fixedWorkload{interruptedRun("")} }}
	benchmarks = append(benchmarks, interrupted)
	defer func() { benchmarks = benchmarks[:len(benchmarks)-1] }()
	code, stdout, stderr := lab(t, "interrupted", "-q")
	assert.Equal(t, program.ExitInterrupted, code)
	assert.Empty(t, stdout)
	assert.Equal(t, "lab: interrupted during \"as fast as possible\"; an unfinished run has no result\n", stderr)
}

func TestBenchWritesToAFullDisk(t *testing.T) {
	session, _, _ := sessionFor(t)
	session.stdout = writerFunc(func([]byte) (int, error) { return 0, syscall.ENOSPC })
	assert.ErrorIs(t, session.show(nil, true), syscall.ENOSPC)
	// The reader has closed the pipe: "lab bench queue | true".
	session.stdout = writerFunc(func([]byte) (int, error) { return 0, syscall.EPIPE })
	assert.NoError(t, session.show(nil, true))
}

// The table has medians, programs get every round, and the rounds take turns.
func TestBenchRounds(t *testing.T) {
	session, stdout, stderr := sessionFor(t)
	session.options.rounds = 3
	session.options.plot = filepath.Join(t.TempDir(), "x.svg")
	session.options.figure = "time"
	values := map[string][]float64{"a": {30, 10, 20}, "b": {300, 100, 200}}
	run := func(design string) job {
		return job{design: design, do: func(context.Context, *bench.Meter) (*bench.Result, error) {
			value := values[design][0]
			values[design] = values[design][1:]
			latency := &bench.Histogram{}
			latency.Record(time.Duration(value))
			return &bench.Result{
				Bench: "queue", Subject: design, Latency: latency,
				Parameters: []bench.Parameter{{Name: "rate", Value: fmt.Sprint(value)}},
				Figures:    []bench.Figure{{Name: "time", Unit: bench.Nanoseconds, Value: value}},
			}, nil
		}}
	}
	require.NoError(t, session.run([]job{run("a"), run("b")}))
	assert.Regexp(t, `(?m)^  time +20 ns \(100 %\) +200 ns \(100 %\)$`, stdout.String())
	assert.Regexp(t, `(?m)^  max +30 ns \(100 %\) +300 ns \(100 %\)$`, stdout.String())
	assert.Contains(t, stdout.String(), "rounds 3 (medians)")
	assert.NotContains(t, stdout.String(), "rate")
	assert.Equal(t, "[1/6] a\n[2/6] b\n[3/6] a\n[4/6] b\n[5/6] a\n[6/6] b\n", progressOf(stderr.String()))
	assert.NotContains(t, stderr.String(), "looking for a rate", "none is to be found")
	assert.Contains(t, svgText(t, session.options.plot), "200 ns")

	document := benchJSON(t, append([]string{"fifo", "--rounds", "2"}, small["fifo"]...)...)
	require.Len(t, document.Results, 2)
	assert.Equal(t, "1", document.Results[0].Parameters["round"])
	assert.Equal(t, "2", document.Results[1].Parameters["round"])
}

// The designs of a value get half of what the slowest of them sustains, in all rounds.
func TestBenchOneRate(t *testing.T) {
	session, _, stderr := sessionFor(t)
	session.varied, session.options.rounds = "workers", 2
	var rates []string
	run := func(value, design string, sustained float64) job {
		return job{value: value, design: design,
			pace: func(rate float64) error {
				rates = append(rates, fmt.Sprintf("%s: %.0f", value, rate))
				return nil
			},
			do: func(context.Context, *bench.Meter) (*bench.Result, error) {
				rates = append(rates, design)
				return &bench.Result{Bench: "x", Figures: []bench.Figure{{Name: "events", Value: sustained}}}, nil
			}}
	}
	fixed := run("4", "fixed", 1)
	fixed.pace = nil
	jobs := []job{run("1", "a", 900), run("1", "b", 200), run("2", "a", 1), run("2", "b", 3000), fixed}
	require.NoError(t, session.run(jobs))
	const looking = "looking for a rate that every design sustains"
	assert.Equal(t, []string{"a", "b", "1: 100", "a", "b", "2: 1"}, rates[:6],
		"before the rounds; one a second at least")
	assert.Len(t, rates, 6+2*5)
	assert.True(t, strings.HasPrefix(stderr.String(), looking+"\n[1/10] "), "the trials are no run: %s", stderr)
	assert.Equal(t, 1, strings.Count(stderr.String(), looking))

	document := benchJSON(t, once("fifo", "--design", "all", "--duration", "5ms")...)
	var common []float64
	for _, result := range document.Results {
		assert.NotContains(t, result.Parameters, "rate", "it was not asked for")
		for _, figure := range result.Figures {
			if figure.Name == "rate for latency" {
				common = append(common, figure.Value)
			}
		}
	}
	require.Len(t, common, 3)
	assert.Equal(t, []float64{common[0], common[0]}, common[1:])
}

// progressOf returns the lines that name the job.
func progressOf(stderr string) string {
	var lines strings.Builder
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "[") {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

// A workload may omit a parameter that is off; its row names it nevertheless.
func TestBenchSweepNamesEveryValue(t *testing.T) {
	document := benchJSON(t, once("queue", "--vary", "metrics=false,true", "-q")...)
	require.Len(t, document.Results, 2)
	assert.Equal(t, "false", document.Results[0].Parameters["metrics"])
	assert.Equal(t, "true", document.Results[1].Parameters["metrics"])
}
