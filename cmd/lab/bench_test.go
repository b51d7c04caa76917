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

// labBench runs the command as a user would.
func labBench(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return programtest.Call(t, newRootCommand(), error.Error, append([]string{"bench"}, args...)...)
}

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
	code, stdout, stderr := labBench(t, append(args, "-o", "json")...)
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
			for i := 0; i < len(small[kind.name]); i += 2 {
				flag, value := strings.TrimPrefix(small[kind.name][i], "--"), small[kind.name][i+1]
				assert.Equal(t, value, result.Parameters[flag], "the flag has arrived")
			}
		})
	}
}

// Designs side by side have a row each.
func TestBenchDesigns(t *testing.T) {
	code, stdout, stderr := labBench(t, once("fifo", "--design", "all")...)
	require.Zero(t, code, stderr)
	assert.Regexp(t, `(?m)^  textbook( +\S+( [kM])?/s){2} +\S+ (ns|µs) `, stdout)
	assert.Contains(t, stdout, "\nchecked\n")
	assert.Contains(t, stderr, "[2/3] textbook\n")
	code, _, stderr = labBench(t, once("queue", "--quiet")...)
	assert.Zero(t, code)
	assert.Empty(t, stderr)
}

// A job that fails, or that Ctrl-C interrupts, ends the command without figures.
func TestBenchShowsNothingOfARunThatFails(t *testing.T) {
	good := job{design: "good", do: func(context.Context, *bench.Meter) (*bench.Result, error) {
		return &bench.Result{Bench: "x", Figures: []bench.Figure{{Name: "events", Unit: bench.PerSecond,
			Value: 1}}}, nil
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
		session, stdout, _ := sessionFor(t)
		err := session.run([]job{good, last})
		assert.EqualError(t, err, want)
		assert.Equal(t, last.design == "", errors.Is(err, program.ErrInterrupted), "for the exit code")
		assert.Empty(t, stdout.String())
	}
}

func sessionFor(t *testing.T) (s *benchRun, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	options := &outputFlags{rounds: 1, output: outputTable}
	return &benchRun{ctx: t.Context(), options: options, stdout: stdout, stderr: stderr}, stdout, stderr
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
		args, stderr := append([]string{"bench"}, once("queue", "-q", "-o", format)...), &bytes.Buffer{}
		assert.Equal(t, 1, program.Run(newRootCommand(), args, full, stderr, error.Error), format)
		assert.Contains(t, stderr.String(), "cannot be written: write /dev/full: no space left", format)
		stderr.Reset()
		assert.Zero(t, program.Run(newRootCommand(), args, closed, stderr, error.Error), format)
		assert.Empty(t, stderr.String(), format)
	}
}

// The table has medians, programs get every round, and the rounds take turns.
func TestBenchRounds(t *testing.T) {
	session, stdout, stderr := sessionFor(t)
	session.options.rounds = 3
	values := map[string][]float64{"a": {30, 10, 20}, "b": {300, 100, 200}}
	run := func(design string) job {
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
	require.NoError(t, session.run([]job{run("a"), run("b")}))
	assert.Regexp(t, `(?m)^  b +200 ns \(100 %\)$`, stdout.String())
	assert.Contains(t, stdout.String(), "rounds 3 (medians)")
	assert.Equal(t, "[1/6] a\n[2/6] b\n[3/6] a\n[4/6] b\n[5/6] a\n[6/6] b\n", stderr.String())

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
}

// sweep returns the jobs of a benchmark for these arguments.
func sweep(t *testing.T, args []string) []job {
	t.Helper()
	b := benchmarks[slices.IndexFunc(benchmarks, func(b benchmark) bool { return b.name == args[0] })]
	s, flags := &sweepFlags{benchmark: b}, pflag.NewFlagSet("test", pflag.ContinueOnError)
	b.workload().addTo(flags)
	s.own = flagNames(flags)
	s.addTo(flags)
	(&outputFlags{}).addTo(flags)
	require.NoError(t, flags.Parse(args[1:]), args)
	jobs, err := s.jobs(flags)
	require.NoError(t, err, args)
	return jobs
}

func TestBenchSweepValues(t *testing.T) {
	for args, want := range map[string]string{
		"queue --vary workers=3..20":                "3, 6, 12, 20",
		"queue --vary keys=1k,2k,5k":                "1000, 2000, 5000",
		"queue --vary handler-cost=1us..4us":        "1µs, 2µs, 4µs",
		"queue --vary distribution=uniform,hot":     "uniform, hot",
		"queue --vary --rate=100k..200k":            "100000, 200000",
		"fifo --vary keys=1 --design textbook,fast": "1 textbook, 1 fast",
	} {
		var values []string
		for _, j := range sweep(t, strings.Fields(args)) {
			values = append(values, strings.TrimSpace(j.value+" "+j.design))
		}
		assert.Equal(t, want, strings.Join(values, ", "))
	}
}

// A workload may omit a parameter that is off; its row names it nevertheless.
func TestBenchSweeps(t *testing.T) {
	for args, want := range map[string][]string{
		"queue --vary handler-cost=0,1us":                        {"cost", " 0s ", " 1µs "},
		"fifo --vary distribution=uniform,hot --design textbook": {"distribution", "  uniform ", "  hot "},
	} {
		words := strings.Fields(args)
		code, stdout, stderr := labBench(t, once(words[0], words[1:]...)...)
		require.Zero(t, code, stderr)
		for _, want := range append(want, "checked in each run") {
			assert.Contains(t, stdout, want, args)
		}
	}
}

// The sweeps of the help and of the page are possible.
func TestBenchExamplesParse(t *testing.T) {
	page, err := os.ReadFile("../../docs/measure/bench.md")
	require.NoError(t, err)
	texts := []string{string(page)}
	for command := range programtest.Commands(newRootCommand()) {
		texts = append(texts, command.Example)
	}
	found := 0
	for line := range strings.Lines(strings.ReplaceAll(strings.Join(texts, "\n"), "\\\n", " ")) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "bin/")
		if !strings.HasPrefix(line, "lab bench") || !strings.Contains(line, "--vary") {
			continue
		}
		found++
		line, _, _ = strings.Cut(line, "#")
		assert.NotEmpty(t, sweep(t, programtest.Words(line)[2:]), line)
	}
	assert.Greater(t, found, 7)
}
