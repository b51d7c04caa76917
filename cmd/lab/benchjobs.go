package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"orrery/internal/app/program"
	"orrery/internal/lab/bench"
)

// workload is the flags of a benchmark and the jobs they ask for.
type workload interface {
	addTo(flags *pflag.FlagSet)
	// jobs returns the jobs in order, one for each design.
	jobs() []job
}

// job is one run of one design, with one value of the varied flag.
type job struct {
	// design is the name in results: "fast".
	design string
	// value is the value of the varied flag; empty if none is varied.
	value string
	// pace sets the rate of the second phase, for all jobs of the workload. It is nil if the user
	// has set it, or if there is no such phase.
	pace func(rate float64) error
	do   func(ctx context.Context, meter *bench.Meter) (*bench.Result, error)
}

// benchConfig is a benchmark's configuration.
type benchConfig interface{ AddTo(*pflag.FlagSet) }

// work is the workload of a benchmark: a configuration and some of its subjects.
type work[S interface{ Name() string }, C benchConfig] struct {
	bench    string
	usage    string
	subjects []S
	config   C
	run      func(context.Context, S, C, *bench.Meter) (*bench.Result, error)

	chosen program.Choice
	flags  *pflag.FlagSet
	own    []string // the flags of the configuration
	paced  bool     // the rate was measured, so it is a figure and no parameter
}

func newWork[S interface{ Name() string }, C benchConfig](
	name, usage string, subjects []S, config C,
	run func(context.Context, S, C, *bench.Meter) (*bench.Result, error),
) workload {
	return &work[S, C]{bench: name, usage: usage, subjects: subjects, config: config, run: run}
}

func (w *work[S, C]) addTo(flags *pflag.FlagSet) {
	flags.SortFlags = false // tables and messages use this order
	w.flags = flags
	var names []string
	for _, subject := range w.subjects {
		names = append(names, subject.Name())
	}
	program.ChoicesVar(flags, &w.chosen, "design", "design", names, w.usage)
	before := flagNames(flags)
	w.config.AddTo(flags)
	w.own = flagNames(flags)[len(before):]
}

func (w *work[S, C]) jobs() []job {
	var jobs []job
	rate := w.flags.Lookup("rate")
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
		if rate != nil && rate.Value.String() == "0" {
			made.pace = func(chosen float64) error {
				w.paced = true
				return rate.Value.Set(strconv.FormatFloat(chosen, 'g', 3, 64))
			}
		}
		jobs = append(jobs, made)
	}
	return jobs
}

// parameters returns the flags of the configuration, except boolean and zero flags left at their
// default, and a measured rate.
func (w *work[S, C]) parameters() []bench.Parameter {
	var list []bench.Parameter
	for _, name := range w.own {
		flag := w.flags.Lookup(name)
		value := flag.Value.String()
		if name == "rate" && w.paced {
			continue
		}
		if flag.Changed || !slices.Contains([]string{"0", "0s", "false"}, value) {
			list = append(list, bench.Parameter{Name: strings.ReplaceAll(name, "-", " "), Value: value})
		}
	}
	return list
}

// sweep returns the jobs of --vary, one for each value and design, and the name of the varied flag.
// Each value has a workload of its own with the flags that were given, so mistakes are found before
// the measurement.
func (b benchmark) sweep(vary string, given *pflag.FlagSet) (name string, jobs []job, err error) {
	name, values, found := strings.Cut(vary, "=")
	name = strings.TrimLeft(strings.TrimSpace(name), "-")
	for value := range strings.SplitSeq(values, ",") {
		workload, flags := b.workload(), pflag.NewFlagSet(name, pflag.ContinueOnError)
		workload.addTo(flags)
		known := flagNames(flags)[1:] // the first is --design, which takes several values itself
		switch {
		case !found || values == "":
			return "", nil, fmt.Errorf("--vary %s: it must be a flag and its values, such as %s=1,2,4", vary, known[0])
		case !slices.Contains(known, name):
			return "", nil, fmt.Errorf("--vary %s: %q is not a flag that can be varied; use one of %s",
				vary, name, strings.Join(known, ", "))
		case given.Changed(name):
			return "", nil, fmt.Errorf("--%s has one value and --vary others: use only one of them", name)
		}
		given.Visit(func(flag *pflag.Flag) {
			if flags.Lookup(flag.Name) != nil && err == nil {
				err = flags.Set(flag.Name, flag.Value.String())
			}
		})
		if err == nil {
			err = program.FlagError(flags.Set(name, value))
		}
		if err != nil {
			return "", nil, fmt.Errorf("--vary %s=%s: %w", name, value, err)
		}
		for _, job := range workload.jobs() {
			job.value = flags.Lookup(name).Value.String()
			jobs = append(jobs, job)
		}
	}
	return name, jobs, nil
}

// flagNames returns the names of all flags.
func flagNames(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	return names
}
