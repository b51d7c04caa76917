package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
)

// small are flags that make each benchmark short.
var small = map[string][]string{
	"queue":    {"--keys", "100", "--duration", "20ms"},
	"dispatch": {"--objects", "50", "--duration", "20ms"},
	"fifo":     {"--keys", "100", "--duration", "20ms"},
	"store":    {"--objects", "100", "--readers", "1", "--duration", "20ms"},
	"sync":     {"--objects", "50"},
}

// short returns the arguments of a short benchmark.
func short(name string, more ...string) []string {
	return slices.Concat([]string{"bench", name}, small[name], more)
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

// Each benchmark runs and prints its figures and its checks, of every round, on standard output
// only.
func TestBenchmarksRun(t *testing.T) {
	require.Len(t, small, len(benchmarks))
	for _, kind := range benchmarks {
		t.Run(kind.name, func(t *testing.T) {
			code, stdout, stderr := lab(t, short(kind.name, "--rounds", "2", "-q", "-o", "json")...)
			require.Zero(t, code, stderr)
			assert.Empty(t, stderr)
			var document benchDocument
			require.NoError(t, json.Unmarshal([]byte(stdout), &document))
			require.Len(t, document.Results, 2)
			for round, result := range document.Results {
				assert.Equal(t, fmt.Sprint(round+1), result.Parameters["round"])
				assert.Equal(t, kind.name, result.Bench)
				assert.NotEmpty(t, result.Figures)
				assert.NotEmpty(t, result.Proof)
				if kind.name != "sync" {
					require.NotNil(t, result.Latency)
					assert.Positive(t, result.Latency.Count)
				}
				for i := 0; i < len(small[kind.name]); i += 2 {
					flag, value := strings.TrimPrefix(small[kind.name][i], "--"), small[kind.name][i+1]
					assert.Equal(t, value, result.Parameters[flag], "the flag has arrived")
				}
			}
		})
	}
}

// A job that fails, or that Ctrl-C interrupts, ends the command without figures.
func TestBenchShowsNothingOfARunThatFails(t *testing.T) {
	good := job{design: "good", do: func(context.Context, *bench.Meter) (*bench.Result, error) {
		return &bench.Result{Figures: []bench.Figure{{Name: "events", Unit: bench.PerSecond, Value: 1}}}, nil
	}}
	bad := job{design: "bad", do: func(context.Context, *bench.Meter) (*bench.Result, error) {
		return nil, bench.Prove("keys processed", 2, 1)
	}}
	interrupted := job{do: func(ctx context.Context, meter *bench.Meter) (*bench.Result, error) {
		meter.Begin("as fast as possible")
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	for want, last := range map[string]job{
		"bad: the work was not done: keys processed: got 1, want 2":                 bad,
		`interrupted during "as fast as possible"; an unfinished run has no result`: interrupted,
	} {
		run, stdout, _ := newBenchRun(1)
		err := run.run(t.Context(), []job{good, last})
		assert.EqualError(t, err, want)
		assert.Equal(t, last.design == "", errors.Is(err, program.ErrInterrupted), "for the exit code")
		assert.Empty(t, stdout.String())
	}
}

func newBenchRun(rounds int) (r *benchRun, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	options := &outputFlags{rounds: rounds, output: outputTable}
	return &benchRun{options: options, stdout: stdout, stderr: stderr}, stdout, stderr
}

// A pipe whose reader has gone is no error: "lab bench queue | true".
func TestBenchIntoAClosedPipe(t *testing.T) {
	reader, closed, err := os.Pipe()
	require.NoError(t, err)
	defer closed.Close()
	require.NoError(t, reader.Close())
	for _, format := range []string{outputTable, outputJSON, outputBenchfmt} {
		args, stderr := short("queue", "--rounds", "1", "-q", "-o", format), &bytes.Buffer{}
		assert.Zero(t, program.Run(newRootCommand(), args, closed, stderr, error.Error), format)
		assert.Empty(t, stderr.String(), format)
	}
}

// The rounds take turns, and the table has medians. Before them, the designs of a value get half of
// what the slowest of them sustains, one a second at least.
func TestBenchRounds(t *testing.T) {
	run, stdout, stderr := newBenchRun(3)
	run.varied = "workers"
	var calls []string
	values := map[string][]float64{"1 a": {900, 30, 10, 20}, "1 b": {200, 300, 100, 200}, "2 a": {1, 7, 7, 7},
		"3 a": {50, 7, 7, 7}, "4 fixed": {5, 5, 5}}
	of := func(value, design string) job {
		name := value + " " + design
		return job{value: value, design: design,
			pace: func(rate float64) error {
				calls = append(calls, fmt.Sprintf("%s: %.0f", value, rate))
				return nil
			},
			do: func(context.Context, *bench.Meter) (*bench.Result, error) {
				calls = append(calls, name)
				figure := bench.Figure{Name: "time", Unit: bench.Nanoseconds, Value: values[name][0]}
				values[name] = values[name][1:]
				return &bench.Result{Bench: "queue", Subject: design, Figures: []bench.Figure{figure},
					Parameters: []bench.Parameter{{Name: "workers", Value: value}}}, nil
			}}
	}
	fixed := of("4", "fixed")
	fixed.pace = nil
	require.NoError(t, run.run(t.Context(), []job{of("1", "a"), of("1", "b"), of("2", "a"), of("3", "a"), fixed}))
	round := []string{"1 a", "1 b", "2 a", "3 a", "4 fixed"}
	paced := []string{"1 a", "1 b", "1: 100", "2 a", "2: 1", "3 a", "3: 25"}
	assert.Equal(t, slices.Concat(paced, round, round, round), calls, "each value is paced by its own designs")
	assert.Regexp(t, `(?m)^ +1 +b +200 ns \(100 %\)$`, stdout.String())
	assert.Contains(t, stdout.String(), "rounds 3 (medians)")
	assert.True(t, strings.HasPrefix(stderr.String(), "[1/15] workers=1, a\n[2/15] workers=1, b\n"), stderr)
}

// The sweeps of the help and of the page are possible.
func TestBenchExamplesParse(t *testing.T) {
	page, err := os.ReadFile("../../docs/measure/bench.md")
	require.NoError(t, err)
	for _, b := range benchmarks {
		example := regexp.MustCompile(`lab bench ` + b.name + ` .*--vary (\S+)`)
		found := example.FindAllStringSubmatch(b.examples+"\n"+string(page), -1)
		assert.NotEmpty(t, found, b.name)
		for _, f := range found {
			_, _, err := b.sweep(f[1], pflag.NewFlagSet("test", pflag.ContinueOnError))
			assert.NoError(t, err, f[0])
		}
	}
}

func TestBenchSweepValues(t *testing.T) {
	b := benchmarks[slices.IndexFunc(benchmarks, func(b benchmark) bool { return b.name == "fifo" })]
	for vary, want := range map[string]string{
		"keys=1k,2k":               "1000 textbook, 1000 fast, 2000 textbook, 2000 fast",
		"--rate=100k":              "100000 textbook, 100000 fast",
		"distribution=uniform,hot": "uniform textbook, uniform fast, hot textbook, hot fast",
	} {
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		b.workload().addTo(flags)
		require.NoError(t, flags.Parse([]string{"--design", "textbook,fast"}))
		_, jobs, err := b.sweep(vary, flags)
		require.NoError(t, err, vary)
		var values []string
		for _, j := range jobs {
			values = append(values, j.value+" "+j.design)
		}
		assert.Equal(t, want, strings.Join(values, ", "))
	}
}

// Designs side by side have a row each. A workload may omit a parameter that is off; its row names
// it nevertheless.
func TestBenchSweeps(t *testing.T) {
	for args, want := range map[string][]string{
		"queue --vary handler-cost=0,1us": {"cost", " 0s ", " 1µs "},
		"fifo --design all --vary distribution=hot,uniform": {
			"distribution", "  uniform ", "  hot ", "  fast ", "  textbook ", "  inorder "},
	} {
		name, flags, _ := strings.Cut(args, " ")
		code, stdout, stderr := lab(t, short(name, append(strings.Fields(flags), "--rounds", "1")...)...)
		require.Zero(t, code, stderr)
		if name == "fifo" {
			assert.Regexp(t, `(?m)^ +hot +textbook( +\S+( [kM])?/s){2} +\S+ (ns|µs) `, stdout)
		}
		for _, want := range append(want, "checked in each run") {
			assert.Contains(t, stdout, want, args)
		}
	}
}
