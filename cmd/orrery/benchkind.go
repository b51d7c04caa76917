package main

import (
	"github.com/spf13/pflag"
)

// benchKind is a benchmark: what its command says, and its workload.
type benchKind struct {
	name     string
	short    string
	long     string
	examples string
	// sweeps are the examples of "orrery bench sweep" with this benchmark.
	sweeps   string
	workload func() benchWorkload
}

// benchWorkload is what the flags of a benchmark ask for.
type benchWorkload interface {
	addTo(flags *pflag.FlagSet)
	// check finds what no run could work with.
	check() error
	// runs are what is to be run, one after the other: one for each design.
	runs() []benchRun
}

// benchNoter is a workload that may have something to say before it runs.
type benchNoter interface {
	// note is a sentence for the standard error; empty if there is nothing to say.
	note() string
}
