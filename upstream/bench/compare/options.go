package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"orrery/internal/lab/bench"
)

// options holds the flags.
type options struct {
	only     string
	rounds   int
	quick    bool
	list     bool
	render   bool
	jsonFile string
	page     string // directory of benchmarks.md and its picture; "" for neither
}

const usage = `bench compares this project with client-go. Both do the same work in turns, A B, B A, A B, each in a process
of its own, and prove that they did it; what counts is the ratio of their medians.

  bench                     everything: twenty-five minutes on two cores
  bench -only queue/cycle   one scenario, or a group of them (queue), or one measure ("queue/cycle ns/op")
  bench -quick              less work, one round, only what is exact (allocations, bytes, requests): fails if a target is missed
  bench -render             the page once more, from the figures of the last time

A complete run writes docs/measure/benchmarks.md and its picture.

"make bench" and "make bench-quick" build what this needs and run it. Leave the machine alone meanwhile.

How to read the table: ratio is ours divided by theirs; textbook is our textbook form's figure, and that divided by
theirs; rounds are the least and the greatest ratio of any round. The exit status is 0 unless something could not be run
or, with -quick, misses its target.

Flags:
`

func parse(arguments []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // main reports a wrong flag
	flags.StringVar(&o.only, "only", "", "compare only these `names`: groups, scenarios or measures, separated by commas")
	flags.IntVar(&o.rounds, "rounds", 0, "how many `rounds`: 5 unless it is quick, where it is 1")
	flags.BoolVar(&o.quick, "quick", false, "guard against regressions: less work, and only the figures that a busy machine does not change")
	flags.BoolVar(&o.list, "list", false, "print what can be compared")
	flags.BoolVar(&o.render, "render", false, "measure nothing: write the page from -json")
	flags.StringVar(&o.jsonFile, "json", "", "write the records to this `file`: build/bench.json when everything is compared, none otherwise")
	if err := flags.Parse(arguments[1:]); errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage)
		flags.SetOutput(os.Stdout)
		flags.PrintDefaults()
		return o, err
	} else if err != nil {
		return o, fmt.Errorf("%w; see bench -help", err)
	}
	return o, o.complete(flags.Args())
}

// complete checks the flags and sets those that depend on others.
func (o *options) complete(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("%q is not a flag; did you mean -only %s?", rest[0], strings.Join(rest, ","))
	}
	if o.rounds < 0 {
		return fmt.Errorf("-rounds %d: at least one is needed", o.rounds)
	}
	if o.rounds == 0 {
		o.rounds = 5
		if o.quick {
			o.rounds = 1
		}
	}
	if !o.quick && o.only == "" { // the page needs every measure
		o.jsonFile = cmp.Or(o.jsonFile, filepath.Join("build", "bench.json"))
		o.page = "docs/measure"
	}
	return nil
}

func (o *options) effort() bench.Effort {
	if o.quick {
		return bench.Quick
	}
	return bench.Full
}
