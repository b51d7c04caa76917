package benchcmd

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"orrery/internal/lab/bench"
	"orrery/internal/program"
)

// workload is what the flags of a benchmark ask for.
type workload interface {
	addTo(flags *pflag.FlagSet)
	// jobs are what is to be run, one after the other: one for each design.
	jobs() []job
}

// job is one run: of one design, with one value of the flag that is varied.
type job struct {
	// design is what the run is called among others: "fast".
	design string
	// value is what the varied flag has; empty if none is varied.
	value string
	do    func(ctx context.Context, meter *bench.Meter) (*bench.Result, error)
}

// config is that of a benchmark, which knows its flags.
type config interface{ AddTo(*pflag.FlagSet) }

// work is the workload of a benchmark: a configuration, and some of several subjects.
type work[S interface{ Name() string }, C config] struct {
	bench    string
	flag     string // chooses subjects: "design"
	usage    string
	subjects []S
	config   C
	run      func(context.Context, S, C, *bench.Meter) (*bench.Result, error)

	chosen program.Choice
	flags  *pflag.FlagSet
	own    []string // the flags of the configuration
}

func newWork[S interface{ Name() string }, C config](name, flag, usage string, subjects []S, config C, run func(context.Context, S, C, *bench.Meter) (*bench.Result, error)) workload {
	return &work[S, C]{bench: name, flag: flag, usage: usage, subjects: subjects, config: config, run: run}
}

func (w *work[S, C]) addTo(flags *pflag.FlagSet) {
	flags.SortFlags = false // tables and messages name the flags in this order
	w.flags = flags
	var names []string
	for _, subject := range w.subjects {
		names = append(names, subject.Name())
	}
	program.ChoicesVar(flags, &w.chosen, w.flag, w.flag, names, w.usage)
	before := flagNames(flags)
	w.config.AddTo(flags)
	w.own = flagNames(flags)[len(before):]
}

func (w *work[S, C]) jobs() []job {
	var jobs []job
	for _, name := range w.chosen.Chosen {
		subject := w.subjects[slices.IndexFunc(w.subjects, func(s S) bool { return s.Name() == name })]
		made := job{do: func(ctx context.Context, meter *bench.Meter) (*bench.Result, error) {
			result, err := w.run(ctx, subject, w.config, meter)
			if err != nil {
				return nil, err
			}
			result.Bench, result.Subject, result.Parameters = w.bench, name, w.parameters()
			return result, nil
		}}
		if len(w.chosen.Chosen) > 1 {
			made.design = name
		}
		jobs = append(jobs, made)
	}
	return jobs
}

// parameters are the flags of the configuration, but for those that are off because nobody has said otherwise.
func (w *work[S, C]) parameters() []bench.Parameter {
	var list []bench.Parameter
	for _, name := range w.own {
		flag := w.flags.Lookup(name)
		value := flag.Value.String()
		if flag.Changed || !slices.Contains([]string{"0", "0s", "false"}, value) {
			list = append(list, bench.Parameter{Name: strings.ReplaceAll(name, "-", " "), Value: value})
		}
	}
	return list
}

// flagNames are the names of all flags so far.
func flagNames(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	return names
}
