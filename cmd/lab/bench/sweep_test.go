package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"orrery/internal/app/program/programtest"
)

// fixedWorkload has no flags and one job.
type fixedWorkload struct{ run job }

func (fixedWorkload) addTo(*pflag.FlagSet) {}
func (w fixedWorkload) jobs() []job        { return []job{w.run} }

// A mistake is reported in one sentence before anything is measured.
func TestBenchMistakes(t *testing.T) {
	directory := t.TempDir()
	missing := filepath.Join(directory, "no", "x.svg")
	vary := func(args ...string) []string { return append([]string{"queue", "--vary"}, args...) }
	for want, args := range map[string][]string{
		`unknown command "queu"; did you mean queue?`:                            {"queu"},
		`unexpected argument "now"`:                                              {"queue", "now"},
		`"--workers" flag: it must be at least 1 (see "lab bench queue --help")`: {"queue", "--workers", "0"},
		`"many" is not a number, such as 1000 or 100k`:                           {"queue", "--workers", "many"},
		`it must be a whole number`:                                              {"queue", "--keys", "1.5"},
		`it must be at most 10000000`:                                            {"queue", "--keys", "10G"},
		`there is no distribution "even"; use uniform, zipf or hot`:              {"queue", "--distribution", "even"},
		`there is no output format "yaml"; use table, json or benchfmt`:          {"queue", "-o", "yaml"},
		`there is no design "quick"; use fast, textbook, inorder or all`:         {"fifo", "--design", "fast,quick"},
		`"--duration" flag: it must be at least 1ns`:                             {"store", "--duration", "0"},
		`"--handler-cost" flag: it must be at least 0s`:                          {"queue", "--handler-cost", "-1s"},
		`"--handler-cost" flag: it must be at most 10s`:                          {"dispatch", "--handler-cost", "1m"},
		`"--rate" flag: it must be at least 0`:                                   {"fifo", "--rate", "-1"},
		`--figure names the figure to plot: it needs --plot`:                     {"queue", "--figure", "p99"},
		`the plot cannot be written: open ` + directory:                          {"queue", "--plot", directory},
		`no such file or directory; choose another place with --plot`:            {"queue", "--plot", missing},
		`--rounds must be between 1 and 1000, it is 0`:                           {"queue", "--rounds", "0"},
		`--plot writes SVG: name the file .svg, not .png`:                        {"queue", "--plot", "x.png"},

		`"plot" is not a flag that can be varied`:                          vary("plot=a,b"),
		`"textbook" is given twice`:                                        {"fifo", "--design", "textbook,textbook"},
		`"design" is not a flag that can be varied`:                        {"fifo", "--vary", "design=fast,textbook"},
		`--workers has one value and --vary others: use only one of them`:  vary("workers=1,2", "--workers", "3"),
		`a range must begin above zero and end above its beginning`:        vary("workers=8..1"),
		`only numbers and durations have ranges; write a list with commas`: vary("distribution=uniform..zipf"),
		`--vary workers=1..x: "x" is not a number`:                         vary("workers=1..x"),
		`--vary handler-cost=x..1s: "x" is not a duration`:                 vary("handler-cost=x..1s"),
		`34 values given; the limit is 32`:                                 vary("duration=1ns..1h"),

		`"wrokers" is not a flag that can be varied; use one of producers, workers, keys,`:     vary("wrokers=1"),
		`--vary workers: it must be a flag and its values, such as producers=1..64`:            vary("workers"),
		`--vary workers=0: invalid argument "0" for "--workers" flag: it must be at least 1`:   vary("workers=1,0"),
		`--vary duration=5: invalid argument "5" for "--duration" flag: "5" is not a duration`: vary("duration=5"),
		`--vary duration=0s: invalid argument "0s" for "--duration" flag: it must be`:          vary("duration=1s,0s"),
	} {
		code, stdout, stderr := lab(t, args...)
		assert.Equal(t, 1, code, args)
		assert.Empty(t, stdout, args)
		assert.Contains(t, stderr, want)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), "one sentence: %s", stderr)
	}
	left, err := os.ReadDir(directory)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// sweepOf prepares a sweep as the command does.
func sweepOf(t *testing.T, kind benchmark, args ...string) []job {
	t.Helper()
	sweep, workload := &sweepFlags{benchmark: kind}, kind.workload()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	workload.addTo(flags)
	sweep.own = flagNames(flags)
	sweep.addTo(flags)
	require.NoError(t, flags.Parse(args))
	jobs, err := sweep.jobs(flags)
	require.NoError(t, err)
	return jobs
}

func TestBenchSweepValues(t *testing.T) {
	for want, args := range map[string][]string{
		"1 2 4 8 16 32 64":     {"--vary", "workers=1..64"},
		"3 6 12 20":            {"--vary", "workers=3..20"},
		"1000 2000 4000 5000":  {"--vary", "keys=1k..5k"},
		"1µs 2µs 4µs":          {"--vary", "handler-cost=1us..4us"},
		"0s 10µs 1ms":          {"--vary", "handler-cost=0,10us,1ms"},
		"uniform hot":          {"--vary", "distribution=uniform,hot"},
		"false true":           {"--vary", "metrics=false,true"},
		"100000 200000 400000": {"--vary", "--rate=100k..400k"},
	} {
		var values []string
		for _, run := range sweepOf(t, queueBench, args...) {
			values = append(values, run.value)
		}
		assert.Equal(t, want, strings.Join(values, " "))
	}
	var names []string
	for _, run := range sweepOf(t, fifoBench, "--vary", "keys=1k,2k", "--design", "textbook,fast") {
		names = append(names, run.value+" "+run.design)
	}
	assert.Equal(t, []string{"1000 textbook", "1000 fast", "2000 textbook", "2000 fast"}, names)
}

// A numeric parameter becomes an axis, a word becomes groups of bars.
func TestBenchSweepPlots(t *testing.T) {
	directory := t.TempDir()
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"queue", "--vary", "workers=1..4"}, []string{"processed per second by workers"}},
		{[]string{"queue", "--vary", "handler-cost=0,1us", "--figure", "p99"}, []string{"latency, p99 by handler cost"}},
		{[]string{"queue", "--vary", "distribution=uniform,hot"}, []string{"processed per second by distribution", "uniform", "hot"}},
		{
			[]string{"fifo", "--vary", "keys=10,100", "--design", "all", "--figure", "CPU Per Event"},
			[]string{"CPU per event by keys", "fast", "textbook"},
		},
		{[]string{"fifo", "--vary", "distribution=uniform,zipf", "--design", "all"}, []string{"fast", "textbook", "zipf"}},
	} {
		file := filepath.Join(directory, "x.svg")
		args := append(slices.Clone(c.args), "--rounds", "1")
		for name, value := range pairs(small[c.args[0]]) {
			if !slices.ContainsFunc(c.args, func(arg string) bool { return strings.HasPrefix(arg, name+"=") }) {
				args = append(args, "--"+name, value)
			}
		}
		code, stdout, stderr := lab(t, append(args, "--plot", file)...)
		require.Zero(t, code, stderr)
		assert.Contains(t, stdout, "checked in each run")
		svg := svgText(t, file)
		for _, want := range c.want {
			assert.Contains(t, svg, want, c.args)
		}
	}
}

func TestBenchPlotOfAFigureThatDoesNotExist(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.svg")
	code, _, stderr := lab(t, once("queue", "-q", "--plot", file, "--figure", "p98")...)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, `there is no figure "p98" to plot; use one of "processed",`)
	assert.NoFileExists(t, file)
}

// The flags accept every example of the help and every command in the documentation.
func TestBenchExamplesParse(t *testing.T) {
	texts := map[string]string{}
	for command := range programtest.Commands(newRoot()) {
		texts[command.CommandPath()] = command.Example
	}
	for _, document := range []string{"README.md", "docs/measure/bench.md"} {
		text, err := os.ReadFile(filepath.Join("../../..", document))
		require.NoError(t, err)
		texts[document] = string(text)
	}
	found := map[string]int{}
	for source, text := range texts {
		for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
			line, _, _ = strings.Cut(line, "#")
			line, _, _ = strings.Cut(line, "|")
			line = strings.TrimPrefix(strings.TrimSpace(line), "bin/")
			if strings.HasPrefix(line, "lab bench") {
				found[source]++
				checkBenchCommand(t, line)
			}
		}
	}
	assert.Equal(t, 1, found["README.md"])
	assert.Greater(t, found["docs/measure/bench.md"], 10)
	assert.Greater(t, found["lab bench queue"], 3)
}

// checkBenchCommand parses a command line, and its sweep.
func checkBenchCommand(t *testing.T, line string) {
	t.Helper()
	called, rest, err := newRoot().Find(programtest.Words(line)[1:])
	require.NoError(t, err, line)
	require.NoError(t, called.ParseFlags(rest), line)
	assert.Empty(t, called.Flags().Args(), line)
	if vary := called.Flags().Lookup("vary"); vary.Changed {
		kind := benchmarks[slices.IndexFunc(benchmarks, func(k benchmark) bool { return k.name == called.Name() })]
		sweep := &sweepFlags{benchmark: kind, vary: vary.Value.String(), own: slices.DeleteFunc(flagNames(called.Flags()), func(name string) bool {
			return slices.Contains([]string{"vary", "output", "plot", "figure", "rounds", "quiet", "help"}, name)
		})}
		_, err := sweep.jobs(called.Flags())
		assert.NoError(t, err, line)
	}
}

// Shells complete the words of flags, and the flags of --vary.
func TestBenchCompletion(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"queue", "--distribution", ""}, []string{"uniform", "zipf", "hot"}},
		{[]string{"fifo", "--design", ""}, []string{"fast", "textbook", "inorder", "all"}},
		{[]string{"sync", "--design", ""}, []string{"fast", "textbook", "all"}},
		{[]string{"store", "-o", ""}, []string{"table", "json", "benchfmt"}},
		{[]string{"queue", "--vary", ""}, []string{"producers=", "workers=", "keys=", "handler-cost="}},
	} {
		code, stdout, _ := programtest.Call(t, newRoot(), error.Error, append([]string{"__complete", "bench"}, c.args...)...)
		assert.Zero(t, code)
		for _, want := range c.want {
			assert.Contains(t, strings.Split(stdout, "\n"), want, c.args)
		}
	}
}
