package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program"
	"orrery/internal/app/program/programtest"
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

// Results that cannot be written are an error, except on a pipe whose reader has gone: "lab bench
// queue | true".
func TestBenchOutputThatCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	reader, closed, err := os.Pipe()
	require.NoError(t, err)
	defer closed.Close()
	require.NoError(t, reader.Close())
	for _, format := range []string{outputTable, outputJSON, outputBenchfmt} {
		args, stderr := short("queue", "--rounds", "1", "-q", "-o", format), &bytes.Buffer{}
		assert.Equal(t, 1, program.Run(newRootCommand(), args, full, stderr, error.Error), format)
		assert.Contains(t, stderr.String(), "cannot be written: write /dev/full: no space left", format)
		stderr.Reset()
		assert.Zero(t, program.Run(newRootCommand(), args, closed, stderr, error.Error), format)
		assert.Empty(t, stderr.String(), format)
	}
}

// The table has medians, and the rounds take turns.
func TestBenchRounds(t *testing.T) {
	run, stdout, stderr := newBenchRun(3)
	values := map[string][]float64{"a": {30, 10, 20}, "b": {300, 100, 200}}
	of := func(design string) job {
		return job{design: design, do: func(context.Context, *bench.Meter) (*bench.Result, error) {
			value := values[design][0]
			values[design] = values[design][1:]
			latency := &bench.Histogram{}
			latency.Record(time.Duration(value))
			return &bench.Result{
				Bench: "queue", Subject: design, Latency: latency,
				Figures: []bench.Figure{{Name: "time", Unit: bench.Nanoseconds, Value: value}},
			}, nil
		}}
	}
	require.NoError(t, run.run(t.Context(), []job{of("a"), of("b")}))
	assert.Regexp(t, `(?m)^  b +200 ns \(100 %\)$`, stdout.String())
	assert.Contains(t, stdout.String(), "rounds 3 (medians)")
	assert.Equal(t, "[1/6] a\n[2/6] b\n[3/6] a\n[4/6] b\n[5/6] a\n[6/6] b\n", stderr.String())
}

// The designs of a value get half of what the slowest of them sustains, in all rounds.
func TestBenchOneRate(t *testing.T) {
	run, _, stderr := newBenchRun(2)
	run.varied = "workers"
	var rates []string
	of := func(value, design string, sustained float64) job {
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
	fixed := of("4", "fixed", 1)
	fixed.pace = nil
	jobs := []job{of("1", "a", 900), of("1", "b", 200), of("2", "a", 1), of("2", "b", 3000), fixed}
	require.NoError(t, run.run(t.Context(), jobs))
	assert.Equal(t, []string{"a", "b", "1: 100", "a", "b", "2: 1"}, rates[:6],
		"before the rounds; one a second at least")
	assert.Len(t, rates, 6+2*5)
	assert.True(t, strings.HasPrefix(stderr.String(), "[1/10] "), "the trials are no run: %s", stderr)
}

// sweep returns the jobs of a sweep with these arguments: benchmark, flags.
func sweep(t *testing.T, args []string) []job {
	t.Helper()
	b := benchmarks[slices.IndexFunc(benchmarks, func(b benchmark) bool { return b.name == args[0] })]
	flags, options := pflag.NewFlagSet("test", pflag.ContinueOnError), &outputFlags{}
	b.workload().addTo(flags)
	options.addTo(flags)
	require.NoError(t, flags.Parse(args[1:]), args)
	_, jobs, err := b.sweep(options.vary, flags)
	require.NoError(t, err, args)
	return jobs
}

func TestBenchSweepValues(t *testing.T) {
	for args, want := range map[string]string{
		"queue --vary keys=1k,2k,5k":                "1000, 2000, 5000",
		"queue --vary handler-cost=0,1us":           "0s, 1µs",
		"queue --vary distribution=uniform,hot":     "uniform, hot",
		"queue --vary --rate=100k,200k":             "100000, 200000",
		"fifo --vary keys=1 --design textbook,fast": "1 textbook, 1 fast",
	} {
		var values []string
		for _, j := range sweep(t, strings.Fields(args)) {
			values = append(values, strings.TrimSpace(j.value+" "+j.design))
		}
		assert.Equal(t, want, strings.Join(values, ", "))
	}
}

// Designs side by side have a row each. A workload may omit a parameter that is off; its row names it nevertheless.
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

// The sweeps of the help and of the page are possible.
func TestBenchExamplesParse(t *testing.T) {
	page, err := os.ReadFile("../../docs/measure/bench.md")
	require.NoError(t, err)
	texts := string(page)
	for command := range programtest.Commands(newRootCommand()) {
		texts += command.Example + "\n"
	}
	found := 0
	for line := range strings.Lines(strings.ReplaceAll(texts, "\\\n", " ")) {
		line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "bin/"), "#")
		if strings.HasPrefix(line, "lab bench") && strings.Contains(line, "--vary") {
			found++
			assert.NotEmpty(t, sweep(t, programtest.Words(line)[2:]), line)
		}
	}
	assert.Greater(t, found, 7)
}
